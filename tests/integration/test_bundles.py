"""The life of a bundle: it is made, verified, modified, and reproduced on another machine."""

import json
import os
import subprocess
import sys
from pathlib import Path

from mqperf_bundle.base import archive
from mqperf_bundle.record import layout

TOYS = Path(__file__).parents[1] / "toys"
MQPERF = Path(sys.executable).with_name("mqperf")
PLAN = """\
systems: {toy: {topologies: [direct], queues: [none]}}
test_cases: [toy-echo]
load: {generator: replay, green_threads: [1], duration_s: 3}
"""


def mqperf(folder: Path, *words: str, code: int = 0) -> str:
    """The output of a command that ends with this exit code; the toy packages are installed."""
    env = os.environ | {"PYTHONPATH": os.pathsep.join(map(str, (TOYS, TOYS / "installed")))}
    done = subprocess.run(
        [MQPERF, *words], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == code, done.stderr
    return done.stdout


def test_a_bundle_is_made_checked_and_reproduced(tmp_path: Path) -> None:
    """Signed, with host names replaced; a number changed together with its checksum is detected."""
    (tmp_path / "toy.yaml").write_text(PLAN)
    mqperf(tmp_path, "run", "toy.yaml", "--hosts", "toy-corner")
    argv = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / "key")]
    subprocess.run(argv, check=True)
    (tmp_path / "signers").write_text(f"toys@example.org {(tmp_path / 'key.pub').read_text()}")
    words = ["bundle", "data/runs/toy", "--out", "toy.tar.xz", "--anonymous", "--sign", "key"]
    assert "hosts renamed: toy-corner" in mqperf(tmp_path, *words)
    verify = ["verify", "toy.tar.xz", "--allowed-signers", "signers"]
    lines = mqperf(tmp_path, *verify).splitlines()
    assert lines[1].startswith("signature: signed by toys@example.org, by the key ED25519 SHA256:")
    assert [lines[2], *lines[-1:]] == [
        "seals: 1 run as recorded",
        "report: made again, byte for byte",
    ]
    reproduced = mqperf(
        tmp_path, "reproduce", "toy.tar.xz", "--out", "again", "--hosts", "toy-corner", "--yes"
    )
    assert "3 figures without an interval: the plan has no repeats" in reproduced
    assert (tmp_path / "again/plan.yaml").exists()

    folder, file = tmp_path / "changed", tmp_path / "toy.tar.xz"
    good = file.read_bytes()
    (tmp_path / "good.tar.xz").write_bytes(good)
    archive.unpack(file, folder)
    assert "toy-corner" not in "".join(path.name for path in folder.rglob("*"))
    versions = json.loads((folder / layout.VERSIONS).read_text())
    (folder / layout.VERSIONS).write_text(json.dumps(versions | {"mqperf": "0.0.1"}))
    table = folder / layout.TABLES / "messages.csv"
    table.write_text(table.read_text().replace("toy-echo,1,", "toy-echo,2,"))
    archive.pack(folder, layout.write_manifest(folder), file)
    output = mqperf(tmp_path, "verify", "toy.tar.xz", code=1)
    assert "signature: not signed" in output
    assert "versions: made by mqperf 0.0.1, here " in output
    assert "threads: 2 in the bundle, 1 from its runs" in output
    assert "report: not made again, as versions differ" in output

    output = mqperf(tmp_path, "brokers", ".", "--out", "site", code=2)
    assert output.splitlines()[:1] == ["good.tar.xz: 1 cell"]
    page = (tmp_path / "site/index.html").read_text()
    assert "toy.tar.xz: tables: messages, row 1" in page
    assert "<code>mqperf reproduce bundles/good.tar.xz</code>" in page
    assert (tmp_path / "site/bundles/good.tar.xz").read_bytes() == good
    published = {path.name for path in (tmp_path / "site/bundles").iterdir()}
    assert published == {"good.html", "good.tar.xz"}
