"""Executes notebooks; run as a script, by ``executing``, so that their kernel ends with it."""

import json
import sys
import time
from pathlib import Path

JOBS, ERRORS = "jobs.json", "errors.json"

QUIET = ["--IPKernelApp.log_level=CRITICAL"]
"""Kernels warn that they talk over loopback without encryption, and log how they are ended."""

READY = "import mqperf; from mqperf.pages import notebook; mqperf.read"
"""What a kernel imports before it is known which notebooks there are."""

ANEW = "get_ipython().reset(new_session=True)"
"""What a kernel does before each notebook: it forgets all but the modules that it has imported."""


def main(folder: Path) -> None:
    """Execute notebooks one after the other in one kernel, whose imports take as long as most.

    The file ``JOBS`` in the folder, which is awaited, has for each its source, the copy to be
    written, and its parameters.  The file ``ERRORS`` gets, by the copies, the errors of cells; each
    ends its notebook, and no other.
    """
    # None: jsonschema would make 38 parsers, in a second, of addresses that no notebook has
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    import papermill
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_core.utils import run_sync

    kernel = AsyncKernelManager()
    run_sync(kernel.start_kernel)(extra_arguments=QUIET, cwd=str(Path.cwd()))
    client = kernel.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    client.execute_interactive(READY, silent=True, store_history=False)
    while not (folder / JOBS).exists():
        time.sleep(0.02)
    errors = {}
    for source, copy, parameters in json.loads((folder / JOBS).read_text(encoding="utf-8")):
        client.execute_interactive(ANEW, silent=True, store_history=False)
        try:
            papermill.execute_notebook(
                source, copy, parameters=parameters, progress_bar=False, km=kernel
            )
        except papermill.PapermillExecutionError as error:
            errors[copy] = " ".join(f"{error.ename}: {error.evalue}".split())
    run_sync(kernel.shutdown_kernel)(now=True)
    (folder / ERRORS).write_text(json.dumps(errors), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
