"""Bundles: changed bytes, hostile archives, secrets, and the names of hosts."""

import io
import json
import lzma
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from mqperf.base.errors import RecordError
from mqperf.base.one_line import amount
from mqperf.front.cli import app
from mqperf.record import Run, runs
from mqperf.record.seal import sha256
from mqperf.study import tables
from mqperf.study.stats.seconds import write_complete
from mqperf_bundle.base import archive, signature
from mqperf_bundle.base.archive import Limits
from mqperf_bundle.base.secrets import line_with_secret
from mqperf_bundle.front.reproducing import agreement
from mqperf_bundle.front.verifying import checks
from mqperf_bundle.front.versions import differences, versions
from mqperf_bundle.record import anonymous, layout
from mqperf_bundle.record.anonymous import rename_hosts, renaming
from mqperf_bundle.record.copied import copy_runs
from mqperf_bundle.record.crate import About, write_crate
from mqperf_bundle.study.differences import compared

SAMPLES = Path(__file__).parents[2] / "data/samples"
HOSTS = SAMPLES / "hosts"
NAME = "rabbitmq-cs1ss2-classic-rpc-call-t0001-p1-r1-b36a0424"


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    """A folder with one run on five hosts, and its plan."""
    folder = tmp_path / "recorded"
    shutil.copytree(HOSTS / NAME, folder / NAME)
    shutil.copy(HOSTS / "plan.yaml", folder)
    return folder


@pytest.fixture
def packed(tmp_path: Path, recorded: Path) -> Path:
    """A bundle of this folder, without computed tables."""
    stage = tmp_path / "stage"
    copy_runs(recorded, stage / layout.RUNS)
    archive.pack(stage, layout.write_manifest(stage), tmp_path / "packed.tar.xz")
    return tmp_path / "packed.tar.xz"


def faults(bundle: Path, folder: Path) -> list[str]:
    """The faults of the files of a bundle, which is unpacked into the folder."""
    digests = archive.unpack(bundle, folder)
    return [*layout.differing(layout.read_manifest(folder), digests)]


def changed(content: bytes, place: int) -> bytes:
    """The content with one byte changed."""
    return content[:place] + bytes([content[place] ^ 0x15]) + content[place + 1 :]


def test_a_changed_byte_of_the_archive_is_found(tmp_path: Path, packed: Path) -> None:
    """At each of 50 places from first to last; and packing again gives the same bytes."""
    content = packed.read_bytes()
    bad = tmp_path / "bad.tar.xz"
    for number, place in enumerate(np.linspace(0, len(content) - 1, 50).astype(int)):
        bad.write_bytes(changed(content, place))
        with pytest.raises(RecordError, match="nothing of it is used"):
            archive.unpack(bad, tmp_path / f"bad-{number}")
    for cut in (content[:-1], content + b"\0", content + content):
        bad.write_bytes(cut)
        with pytest.raises(RecordError, match="nothing of it is used"):
            archive.unpack(bad, tmp_path / f"cut-{len(cut)}")
    assert faults(packed, tmp_path / "whole") == []
    archive.pack(tmp_path / "whole", archive.unpack(packed, tmp_path / "again"), bad)
    assert bad.read_bytes() == content


def test_a_changed_byte_of_a_file_is_found(tmp_path: Path, packed: Path) -> None:
    """At 50 places spread over all files: this file is named, and no other."""
    folder = tmp_path / "changed"
    digests = archive.unpack(packed, folder)
    files = [name for name in digests if name != layout.MANIFEST and (folder / name).stat().st_size]
    sizes = np.cumsum([(folder / name).stat().st_size for name in files])
    for place in np.linspace(0, sizes[-1] - 1, 50).astype(int):
        name = files[int(np.searchsorted(sizes, place, side="right"))]
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(changed(content, int(place) % len(content)))
        again = {**digests, name: sha256(folder / name)}
        listed = layout.read_manifest(folder)
        assert [*layout.differing(listed, again)] == [f"{name}: is not what was bundled"]
        (folder / name).write_bytes(content)


def test_missing_and_added_files_are_found(tmp_path: Path, packed: Path) -> None:
    """They are named, as is an invalid line of the manifest."""
    folder, bad = tmp_path / "changed", tmp_path / "bad.tar.xz"
    names = [*archive.unpack(packed, folder)]
    (folder / "more").touch()
    archive.pack(folder, [*names[:2], *names[3:], "more"], bad)
    words = [f"{names[2]}: is missing", "more: was not bundled"]
    assert faults(bad, tmp_path / "again") == words
    (folder / layout.MANIFEST).write_text("none\n")
    with pytest.raises(RecordError, match=r"manifest-sha256.txt:1: is no line"):
        layout.read_manifest(folder)


def tar(*entries: tarfile.TarInfo, content: bytes = b"") -> bytes:
    """A packed tar with these entries, each with the content if it is a file."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w", format=tarfile.PAX_FORMAT) as file:
        for entry in entries:
            entry.size = len(content) if entry.isreg() else 0
            file.addfile(entry, io.BytesIO(content))
    return lzma.compress(raw.getvalue())


def entry(name: str, kind: bytes = tarfile.REGTYPE, target: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def owned() -> tarfile.TarInfo:
    info = entry("a")
    info.mode, info.uname = 0o4755, "root"
    return info


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"PK\3\4" * 9, "is no archive in xz"),
        (b"", "is cut short"),
        (lzma.compress(b"no tar" * 200), "is no tar"),
        (tar(entry("../a")), "'../a' is no name of a file inside"),
        (tar(entry("a/../../b")), "is no name of a file inside"),
        (tar(entry("/etc/a")), "'/etc/a' is no name of a file inside"),
        (tar(entry("a\\..\\b")), "is no name of a file inside"),
        (tar(entry("a\nb")), "is no name of a file inside"),
        (tar(entry("./a")), "is no name of a file inside"),
        (tar(entry("a", tarfile.SYMTYPE, "/etc/passwd")), "'a' is a link"),
        (tar(entry("a", tarfile.LNKTYPE, "b")), "'a' is a link"),
        (tar(entry("a", tarfile.CHRTYPE)), "'a' is a device"),
        (tar(entry("a", tarfile.FIFOTYPE)), "'a' is a named pipe"),
        (tar(entry("a", tarfile.DIRTYPE)), "'a' is a folder"),
        (tar(entry("x" * 200)), "and a bundle has files alone"),
        (tar(owned()), "'a' is not as mqperf writes it"),
        (tar(entry("a"), entry("a")), "'a' is in it twice"),
        (tar(entry("a"), entry("a/b")), "'a/b' is a file and a folder"),
        (tar(*(entry(f"{n}") for n in range(9))), "one more than 8"),
        (tar(entry("a"), content=bytes(3000)), "'a' has more than 2000 bytes"),
        (tar(*map(entry, "abcdef"), content=bytes(1900)), "unpacks to far more"),
    ],
)
def test_a_hostile_archive_does_nothing(tmp_path: Path, content: bytes, why: str) -> None:
    """The error says what is wrong; nothing is written outside of the folder."""
    (tmp_path / "hostile").write_bytes(content)
    limits = Limits(files=8, file_bytes=2000, total_bytes=2**20, small_bytes=7000, ratio=1)
    with pytest.raises(RecordError, match=why):
        archive.unpack(tmp_path / "hostile", tmp_path / "out", limits)
    assert {path.name for path in tmp_path.iterdir()} <= {"hostile", "out"}
    assert not [path for path in tmp_path.rglob("*") if path.is_symlink()]


@pytest.mark.starts_programs
def test_other_places_than_bundles_are_errors_of_one_line(tmp_path: Path, packed: Path) -> None:
    """A folder and a missing file are; and a bundle that was changed is not reproduced."""
    for place, why in ((HOSTS, "a folder, where"), (HOSTS / "none", "no such file")):
        error = CliRunner().invoke(app, ["verify", str(place)]).exception
        assert isinstance(error, RecordError)
        assert why in str(error)
    names = [*archive.unpack(packed, tmp_path / "changed")]
    (tmp_path / "changed" / names[2]).write_text("changed")
    archive.pack(tmp_path / "changed", names, packed)
    error = CliRunner().invoke(app, ["reproduce", str(packed), "--yes"]).exception
    assert f"{names[2]}: is not what was bundled; see mqperf verify" in str(error)


SECRETS = [
    "connected to amqp://guest:hunter2@broker:5672/",
    "default_pass = hunter2",
    'got {"password": "hunter2"}',
    "-----BEGIN OPENSSH PRIVATE KEY-----",
    "Authorization: Bearer hunter2",
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_is_not_bundled(tmp_path: Path, recorded: Path, secret: str) -> None:
    """The file and the line are named, and the secret is not repeated."""
    (recorded / "plan.yaml").write_text(f"# a plan\n# {secret}\n")
    with pytest.raises(RecordError, match=r"plan.yaml:2: seems to hold a secret") as error:
        copy_runs(recorded, tmp_path / "copy")
    assert "hunter2" not in str(error.value)


@pytest.mark.takes_long
def test_recorded_samples_hold_no_secret() -> None:
    """Not one of the recorded samples is refused."""
    files = (file for file in SAMPLES.rglob("*") if file.is_file())
    assert [file for file in files if line_with_secret(file) is not None] == []


def damaged(folder: Path) -> None:
    (folder / NAME / "events.jsonl").write_text("{}\n")


def linked(folder: Path) -> None:
    (folder / NAME / "more").symlink_to("/etc/hostname")


def unplanned(folder: Path) -> None:
    (folder / "plan.yaml").unlink()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (damaged, r"events\.jsonl: is not what was recorded"),
        (linked, "more: a link, where a recorded file should be"),
        (unplanned, "a bundle needs a plan and its runs"),
    ],
)
def test_an_unsound_folder_is_not_bundled(
    tmp_path: Path, recorded: Path, spoil: Callable[[Path], None], why: str
) -> None:
    """A damaged record, a link and a missing plan are refused by name."""
    spoil(recorded)
    with pytest.raises(RecordError, match=why):
        copy_runs(recorded, tmp_path / "copy")


def texts(folder: Path) -> Iterator[str]:
    """All texts in a folder: names of files, their contents, and headers of ``.messages`` files."""
    for file in folder.rglob("*"):
        yield file.name
        if file.is_file():
            content = file.read_bytes()
            head = content.partition(b"\n")[0] if file.suffix == ".messages" else content
            yield head.decode()


def test_hosts_get_other_names(recorded: Path) -> None:
    """All files and file names have the new names; the runs are sealed and give the same tables."""
    before = tables.read(recorded)
    files = [file for file in recorded.rglob("*") if file.is_file()]
    names, rename = renaming([*runs(recorded)], files)
    assert names == [*(f"198.18.72.{n}" for n in range(1, 6)), *(f"h{n}" for n in range(1, 6))]
    assert (
        rename("h2 and h2.log, not eth2 nor h2_o") == "host-07 and host-07.log, not eth2 nor h2_o"
    )
    rename_hosts(recorded, [*runs(recorded)], rename)
    assert not [text for text in texts(recorded) for name in names if rename(text) != text]
    [run] = runs(recorded)
    assert run.id == NAME
    assert run.damaged() == []
    after = tables.read(recorded)
    hosts = after["hosts"]["host"].tolist()
    assert hosts == [rename(host) for host in before["hosts"]["host"]]
    assert after["messages"].equals(before["messages"])


def test_a_case_that_names_a_host_gets_another_name(recorded: Path) -> None:
    """The run folder is renamed after its case, so that the plan still finds it."""
    file = recorded / NAME / "run.json"
    facts = json.loads(file.read_text())
    facts["case"]["actions"] = [{"do": "freeze", "host": "h1", "at_s": 1, "for_s": 1}]
    file.write_text(json.dumps(facts))
    run = Run(recorded / NAME, NAME, "done")
    before = run.case()
    assert before is not None
    _, rename = renaming([run], [file])
    rename_hosts(recorded, [run], rename)
    [renamed] = runs(recorded)
    after = renamed.case()
    assert after is not None
    assert renamed.id == after.id != before.id


def test_a_bundle_is_a_research_object_crate(tmp_path: Path) -> None:
    """It has everything that the specification of RO-Crate 1.1 requires."""
    (tmp_path / "tables").mkdir()
    for name in ("runs/plan.yaml", "report.html", "versions.json", "tables/a b.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    licence = "https://spdx.org/licenses/CC-BY-4.0"
    about = About("Sample", "2026-11-22T04:59:43+00:00", licence, "0.1.0")
    write_crate(tmp_path, about, ["run-1", "run-2"], {"a b": "a row"})
    crate = json.loads((tmp_path / "ro-crate-metadata.json").read_text())
    assert crate["@context"] == "https://w3id.org/ro/crate/1.1/context"
    entities = {entity["@id"]: entity for entity in crate["@graph"]}
    assert len(entities) == len(crate["@graph"])
    assert all("@type" in entity for entity in entities.values())
    descriptor = entities["ro-crate-metadata.json"]
    assert descriptor["@type"] == "CreativeWork"
    assert descriptor["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}
    root = entities[descriptor["about"]["@id"]]
    assert (root["@id"], root["@type"]) == ("./", "Dataset")
    assert {"name", "description", "datePublished", "license"} <= root.keys()
    assert root["license"]["@id"] in entities
    parts = [part["@id"] for part in (*root["hasPart"], *entities["runs/"]["hasPart"])]
    data = {name for name, each in entities.items() if each["@type"] in {"File", "Dataset"}}
    assert sorted(parts) == sorted(data - {"./"})
    assert "tables/a%20b.csv" in parts
    assert all(entities[part]["@type"] == "Dataset" for part in parts if part.endswith("/"))
    references = [value for each in crate["@graph"] for value in each.values()]
    named = [value["@id"] for value in references if isinstance(value, dict)]
    assert {*named} - {"https://w3id.org/ro/crate/1.1"} <= entities.keys()


def test_a_byte_of_another_encoding_hides_nothing(tmp_path: Path) -> None:
    """A log with such a byte is text: secrets are found, hosts renamed, the rest is unchanged."""
    log = tmp_path / "broker.log"
    log.write_bytes("caf\xe9\nmq1 is up\npassword=sesame # caf\xe9\n".encode("latin-1"))
    assert line_with_secret(log) == 3
    anonymous._rewrite(log, lambda text: text.replace("mq1", "host-1"))
    assert log.read_bytes().splitlines()[:2] == [b"caf\xe9", b"host-1 is up"]


def test_a_histogram_that_spells_a_host_stays_as_it_is(tmp_path: Path) -> None:
    """Base64 may contain a short name by chance; in the header the host is renamed."""
    file = tmp_path / "server-1.counts"
    histogram = b'{"histogram": "HISTFAAAAlR/mq1+8o"}\n'
    file.write_bytes(b'{"label": "mq1"}\n' + histogram)
    anonymous._rewrite(file, lambda text: text.replace("mq1", "host-1"))
    assert file.read_bytes() == b'{"label": "host-1"}\n' + histogram


def test_a_number_that_its_runs_do_not_give_is_named(tmp_path: Path) -> None:
    """The difference has table, row, column and both values; what one side lacks is listed, too."""
    contents = {
        "a": ("run,sent,rate\nr1,5,0.1\nr2,6,\n", "x\n1\n"),
        "b": ("run,sent,lost\nr1,5.0000000000001,1\nr2,7,0\nr3,8,0\n", None),
    }
    for side, (messages, other) in contents.items():
        (tmp_path / side).mkdir()
        (tmp_path / side / "messages.csv").write_text(messages)
        if other is not None:
            (tmp_path / side / "other.csv").write_text(other)
    result = compared(tmp_path / "a", tmp_path / "b")
    for forged, words in (
        ("run,sent,sent\nr1,9,5\n", "messages: names a column twice"),
        ("run,sent,rate\nr1,5,0.1,9\n", "messages, row 1 (r1): has more or fewer values"),
    ):
        (tmp_path / "b" / "messages.csv").write_text("run,sent,rate\nr1,5,0.1\n")
        (tmp_path / "c").mkdir(exist_ok=True)
        (tmp_path / "c" / "messages.csv").write_text(forged)
        assert words in compared(tmp_path / "c", tmp_path / "b").differ[0]
    assert result.differ == [
        "messages, row 2 (r2), sent: 6 in the bundle, 7 from its runs",
        "messages, row 3 (r3): not in the bundle",
    ]
    assert result.apart == [
        "messages, column lost: not in the bundle",
        "messages, column rate: in the bundle alone",
        "table other: in the bundle alone",
    ]
    assert (result.tables, result.agree) == (1, 3)


@pytest.mark.starts_programs
@pytest.mark.parametrize(("made_by", "excused"), [("mqperf", True), ("numpy", False)])
def test_another_version_excuses_columns_and_sentences_and_no_rows(
    tmp_path: Path, recorded: Path, made_by: str, *, excused: bool
) -> None:
    """This holds for mqperf's version, not a library's; a missing row is always a fault."""
    stage = tmp_path / "stage"
    copy_runs(recorded, stage / layout.RUNS)
    write_complete(stage / layout.RUNS, stage / layout.TABLES, "csv")
    (stage / layout.VERSIONS).write_text(json.dumps(versions() | {made_by: "0.0.1"}))
    hosts, messages = (stage / layout.TABLES / name for name in ("hosts.csv", "messages.csv"))
    *kept, _ = hosts.read_text().splitlines(keepends=True)
    hosts.write_text("".join(kept))
    header, *rows = messages.read_text().splitlines()
    messages.write_text("\n".join([f"{header},new", *(f"{row},1" for row in rows), ""]))
    verdicts = pd.read_csv(file := stage / layout.TABLES / "bottlenecks.csv", dtype=str)
    verdicts.assign(because="in other words").to_csv(file, index=False)
    found = next(check for check in checks(stage, {}) if check.what == "tables")
    row = f"hosts, row {len(kept)} ({NAME}): not in the bundle"
    column = "messages, column new: in the bundle alone"
    assert (f"{column}; {amount(len(verdicts), 'sentence')}" in found.says) == excused
    faults = [
        fault.partition(", because: in other words in the bundle")[0] for fault in found.faults
    ]
    assert sorted(faults) == ([row] if excused else [f"bottlenecks, row 1 ({NAME})", row, column])


@pytest.mark.parametrize(
    ("repeats", "why"), [(1, "the plan has no repeats"), (3, "its repeats give none")]
)
def test_figures_agree_within_their_interval(repeats: int, why: str) -> None:
    """A ratio whose interval has 1 agrees; figures without an interval are counted."""
    point = {"system": "rabbitmq", "topology": "cmsm", "queues": "classic", "test_case": "rpc-call"}
    figure = {"threads": 5, "figure": "throughput_msg_s", "interval_kind": "repeats"}
    figure |= {"repeats_a": 3, "repeats_b": repeats}
    ends = [(0.9, 1.1), (1.0, 1.2), (1.05, 1.15), (np.nan, np.nan)]
    rows = [
        {**point, **figure, "clock_share": 0.0, "ratio": 1.1, "ratio_low": a, "ratio_high": b}
        for a, b in ends
    ]
    assert [*agreement(pd.DataFrame(rows))] == [
        "2 of 3 figures agree within their interval",
        "  differs: rabbitmq cmsm classic rpc-call 5, throughput, msg/sec: 1.100, 1.050 to 1.150",
        f"1 figure without an interval: {why}",
    ]


def test_versions_that_differ_are_named() -> None:
    """Different versions and packages that are missing here are named."""
    words = differences({"mqperf": "1", "numpy": "2", "scipy": "3"}, {"mqperf": "2", "numpy": "2"})
    assert words == ["mqperf 1, here 2", "scipy 3, here not there"]


@pytest.mark.starts_programs
def test_a_signature_says_who_signed(tmp_path: Path) -> None:
    """A list of signers gives the name; a changed file or another signer is refused."""
    for name in ("ours", "other"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(words, check=True)
        public = (tmp_path / f"{name}.pub").read_text()
        (tmp_path / f"{name}-signers").write_text(f"{name}@example.org {public}")
    file, signed = tmp_path / "manifest", tmp_path / "manifest.sig"
    file.write_text("what is signed\n")
    signature.sign(file, tmp_path / "ours")
    shown = signature.signer(file, signed, tmp_path / "ours-signers")
    assert shown.startswith("ours@example.org, by the key ED25519 SHA256:")
    assert signature.signer(file, signed, None).startswith("the key ED25519 SHA256:")
    with pytest.raises(RecordError, match="other-signers: names nobody whose key"):
        signature.signer(file, signed, tmp_path / "other-signers")
    file.write_text("what is not signed\n")
    for allowed in (None, tmp_path / "ours-signers"):
        with pytest.raises(RecordError, match="incorrect signature"):
            signature.signer(file, signed, allowed)
    with pytest.raises(RecordError, match=r"none: cannot sign: .*; give a private key"):
        signature.sign(file, tmp_path / "none")
