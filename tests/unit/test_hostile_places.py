"""In any environment mqperf works, or says in one sentence why it cannot.

Real processes with full disks, closed outputs, small limits, odd variables, no network.
"""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.starts_programs

MQPERF = Path(sys.prefix, "bin", "mqperf")
PATIENCE_S = 300
NOT_FOR_ALL = 77
"""Exit code if other users may not run programs of this checkout."""

VERSION = "--version"
PLAN = "plan {root}/plans/quickstart.yaml"
DOCTOR = "doctor rabbitmq"
BUILD = "doctor rabbitmq --generators"
STATUS = "status {root}/data/samples/runs"
IMPORT = "import {root}/data/sources/message_count.csv --out {out}"
AUDIT = "audit {root}/data/published/2016"
TABLES = "tables {root}/data/samples/causes --out {out}"
REPORT = "report {root}/data/samples/causes --no-notebooks --out {out}"
RUN = "run {root}/plans/quickstart.yaml --runs {out}"


@dataclass(frozen=True)
class Place:
    """Shell code before, redirections after, the command, and text that its output must have.

    ``apart`` are options of unshare, which isolate the preparation.
    """

    command: str
    before: str = ""
    after: str = ""
    text: str = ""
    codes: tuple[int, ...] = (0, 2)
    apart: str = ""


FULL = "mount -t tmpfs -o size=16k none $OUT && dd if=/dev/zero of=$OUT/x bs=4k count=3 2>/dev/null"
READ_ONLY = "mount -t tmpfs -o ro none $OUT"
NOBODY = f"""chmod 755 $OUT/..; set -- setpriv --reuid=65534 --regid=65534 --clear-groups
"$@" {MQPERF} --version >/dev/null 2>&1 || exit {NOT_FOR_ALL}"""

PLACES = {
    "disk full, import": Place(IMPORT, FULL, text="No space left", apart="--mount"),
    "disk full, tables": Place(TABLES, FULL, text="No space left", apart="--mount"),
    "disk full, report": Place(REPORT + "/new", FULL, text="No space left", apart="--mount"),
    "read-only out, import": Place(IMPORT, READ_ONLY, text="Read-only", apart="--mount"),
    "read-only out, tables": Place(TABLES, READ_ONLY, text="Read-only", apart="--mount"),
    "read-only out, report": Place(REPORT + "/new", READ_ONLY, text="Read-only", apart="--mount"),
    "read-only out, run": Place(RUN, READ_ONLY, text="Read-only", apart="--mount"),
    "out is a file, import": Place(IMPORT, "rmdir $OUT; touch $OUT", text="out: cannot be written"),
    "out is a file, tables": Place(TABLES, "rmdir $OUT; touch $OUT", text="out: cannot be written"),
    "out is a file, run": Place(RUN, "rmdir $OUT; touch $OUT", text="out"),
    "out below a file": Place(IMPORT, "rmdir $OUT; touch $OUT; OUT=$OUT/x", text="out"),
    "out is a pipe": Place(IMPORT, "rmdir $OUT; mkfifo $OUT", text="out: cannot be written"),
    "out is a loop": Place(IMPORT, "rmdir $OUT; ln -s out $OUT", text="out"),
    "few open files": Place(AUDIT, "ulimit -n 16", text=""),
    "few open files, doctor": Place(DOCTOR, "ulimit -n 16"),
    "small files": Place(IMPORT, "ulimit -f 0", text="File too large"),
    "no core files": Place(VERSION, "ulimit -c 0"),
    "small stack": Place(PLAN, "ulimit -s 512"),
    "small memory": Place(PLAN, "ulimit -v 400000"),
    "little time": Place(VERSION, "ulimit -t 60"),
    "home not there": Place(DOCTOR, "export HOME=/nonexistent"),
    "home empty": Place(DOCTOR, "export HOME="),
    "home unset": Place(DOCTOR, "unset HOME"),
    "home a file": Place(DOCTOR, "touch $OUT/f; export HOME=$OUT/f"),
    "home relative": Place(DOCTOR, "export HOME=here"),
    "cache relative": Place(DOCTOR, "export XDG_CACHE_HOME=here"),
    "cache a file": Place("doctor activemq", "touch $OUT/f; export XDG_CACHE_HOME=$OUT/f"),
    "cache a file, build": Place(
        BUILD, "touch $OUT/f; export XDG_CACHE_HOME=$OUT/f", text="cannot be made in the cache"
    ),
    "cache read-only, build": Place(
        BUILD, f"{READ_ONLY}; export XDG_CACHE_HOME=$OUT", text="Read-only", apart="--mount"
    ),
    "cache full, build": Place(
        BUILD, f"{FULL}; export XDG_CACHE_HOME=$OUT", codes=(2,), apart="--mount"
    ),
    "home of another, build": Place(BUILD, NOBODY, text="cannot be made in the cache"),
    "no network, build": Place(
        BUILD, "export UV_HTTP_RETRIES=0", text="package index", codes=(2,), apart="--net"
    ),  # uv would retry for a minute
    "cache of newlines": Place(DOCTOR, "export XDG_CACHE_HOME=$(printf '/tmp/a\\nb')"),
    "temporary folder not there": Place(IMPORT, "export TMPDIR=/nonexistent"),
    "temporary folder with spaces": Place(PLAN, 'mkdir "$OUT/a b"; export TMPDIR="$OUT/a b"'),
    "temporary folder in unicode": Place(PLAN, 'mkdir "$OUT/é☃"; export TMPDIR="$OUT/é☃"'),
    "no folder to be in": Place(PLAN, "mkdir $OUT/d; cd $OUT/d; rmdir $OUT/d"),
    "no folder to be in, import": Place(IMPORT, "mkdir $OUT/d; cd $OUT/d; rmdir $OUT/d"),
    "language none": Place(IMPORT, "unset LANG LC_ALL"),
    "language C": Place(IMPORT, "export LC_ALL=C"),
    "language POSIX, ASCII": Place(PLAN, "export LC_ALL=POSIX PYTHONUTF8=0 PYTHONCOERCECLOCALE=0"),
    "output in ASCII": Place(IMPORT + "/é", "export PYTHONIOENCODING=ascii"),
    "language unknown": Place(PLAN, "export LC_ALL=xx_YY.ZZZ LANG=nonsense"),
    "path empty": Place(DOCTOR, "PATH=", text="", codes=(2,)),
    "path unset": Place(VERSION, "unset PATH"),
    "path without git": Place(VERSION, "PATH=/nonexistent"),
    "warnings are errors": Place(VERSION, "export PYTHONWARNINGS=error::UserWarning"),
    "python optimised": Place(PLAN, "export PYTHONOPTIMIZE=2"),
    "python verbose start": Place(PLAN, "export PYTHONSTARTUP=/nonexistent PYTHONHASHSEED=7"),
    "python unbuffered": Place(PLAN, "export PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1"),
    "python path of nothing": Place(PLAN, "export PYTHONPATH=/nonexistent:/dev/null"),
    "stdin closed": Place(PLAN, after="<&-"),
    "stdout closed": Place(PLAN, after=">&-"),
    "stderr closed": Place(PLAN, after="2>&-"),
    "stderr closed, an error": Place("plan /nonexistent", after="2>&-", codes=(2,)),
    "all closed": Place("plan /nonexistent", after="<&- >&- 2>&-", codes=(2,)),
    "stdout full": Place(PLAN, after=">/dev/full", text="No space left", codes=(2,)),
    "stdout full, audit": Place(AUDIT, after=">/dev/full", text="No space left", codes=(2,)),
    "stderr full": Place("plan /nonexistent", after="2>/dev/full", codes=(2,)),
    "stdout a closed pipe": Place(AUDIT, after="| true"),
    "dumb terminal": Place(PLAN, "export TERM=dumb COLUMNS=1 NO_COLOR=1"),
    "terminal unknown": Place(PLAN, "export TERM=nonsense LINES=x COLUMNS=x FORCE_COLOR=1"),
    "umask of all": Place(IMPORT, "umask 777; OUT=$OUT/new"),
    "umask of none": Place(IMPORT, "umask 000; OUT=$OUT/new"),
    "odd backend": Place(REPORT, "export MPLBACKEND=nonsense MPLCONFIGDIR=/proc/nope"),
    "odd proxies": Place(DOCTOR, "export http_proxy=http://127.0.0.1:9 ALL_PROXY=nonsense"),
    "odd jupyter": Place(PLAN, "export JUPYTER_PATH=/dev/null JUPYTER_CONFIG_DIR=/dev/full"),
    "no network": Place(DOCTOR, apart="--net"),
    "no /proc": Place(DOCTOR, "mount -t tmpfs none /proc", apart="--mount"),
    "no /sys": Place(DOCTOR, "mount -t tmpfs none /sys", apart="--mount"),
    "nobody": Place(STATUS, NOBODY),
    "nobody, out of another": Place(IMPORT, f"chmod 755 $OUT; {NOBODY}", text="Permission denied"),
}


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
def test_no_place_brings_a_traceback(tmp_path: Path, root: Path, place: Place) -> None:
    """The command ends with 0 or 2, and its error is a sentence with the cause."""
    out = tmp_path / "out"
    out.mkdir()
    words = place.command.replace("{root}", str(root)).replace("{out}", "$OUT")
    script = f'{place.before or ":"}\n"$@" {MQPERF} {words} {place.after}'
    prefix = ["unshare", *place.apart.split()] if place.apart else []
    if (prefix or "setpriv" in place.before) and os.geteuid() != 0:
        pytest.skip("only root can make this place")
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "OUT": str(out)}
    done = subprocess.run(
        [*prefix, "/bin/sh", "-c", script, "sh"],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    if done.returncode == NOT_FOR_ALL:
        pytest.skip("this checkout is not for other users")
    output = done.stdout + done.stderr
    assert "Traceback" not in output, output
    assert done.returncode in place.codes, output
    assert place.text in output
