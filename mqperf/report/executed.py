"""Executes one notebook; run as a script, by ``publish``, so that its kernel ends with it."""

import json
import sys
from pathlib import Path

QUIET = ["--IPKernelApp.log_level=CRITICAL"]
"""Kernels warn that they talk over loopback without encryption, and log how they are ended."""


def main(source: str, copy: str, parameters: str) -> str | None:
    """Execute ``source`` into ``copy``; gives the error of a cell, or None when all went well."""
    import papermill

    try:
        papermill.execute_notebook(
            source,
            copy,
            parameters=json.loads(parameters),
            progress_bar=False,
            extra_arguments=QUIET,
            cwd=str(Path.cwd()),
        )
    except papermill.PapermillExecutionError as error:
        return " ".join(f"{error.ename}: {error.evalue}".split())
    return None


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
