"""``python -m mqperf``: the command line, where the program ``mqperf`` is not on the path."""

from mqperf.front.cli import main

if __name__ == "__main__":
    main()
