"""A script that executes notebooks; ``executing`` runs it, so that the kernel ends with it."""

import json
import sys
import time
from pathlib import Path

JOBS, ERRORS = "jobs.json", "errors.json"

QUIET = ["--IPKernelApp.log_level=CRITICAL"]
"""Hides warnings of kernels about unencrypted loopback connections, and their shutdown logs."""

PRELOAD = "import mqperf; from mqperf.pages import notebook; mqperf.read"
"""Imports that the kernel makes while the list of notebooks is not yet known."""

RESET = "get_ipython().reset(new_session=True)"
"""Code run before each notebook: it clears the namespace, and keeps imported modules."""


def main(folder: Path) -> None:
    """Execute notebooks one after the other in one kernel, as its imports take longer than most.

    Waits for the file ``JOBS`` in the folder: a list of source, path of the copy to write, and
    parameters.  Writes the file ``ERRORS``: copy -> error of a cell, which ends only its notebook.
    """
    # None: else jsonschema would spend a second on 38 parsers of URLs that no notebook has
    sys.modules["rfc3987_syntax"] = None  # type: ignore[assignment]
    import papermill
    from jupyter_client.manager import AsyncKernelManager
    from jupyter_core.utils import run_sync

    kernel = AsyncKernelManager()
    run_sync(kernel.start_kernel)(extra_arguments=QUIET, cwd=str(Path.cwd()))
    client = kernel.blocking_client()
    client.start_channels()
    client.wait_for_ready(timeout=60)
    client.execute_interactive(PRELOAD, silent=True, store_history=False)
    while not (folder / JOBS).exists():
        time.sleep(0.02)
    errors = {}
    for source, copy, parameters in json.loads((folder / JOBS).read_text(encoding="utf-8")):
        client.execute_interactive(RESET, silent=True, store_history=False)
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
