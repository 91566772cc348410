"""Verification of a bundle: files, signature, seals, and everything computed from its runs."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from mqperf.base import processes, raw
from mqperf.base.errors import MqperfError, RecordError
from mqperf.base.one_line import amount
from mqperf.pages.report.build import publish_file
from mqperf.record import runs
from mqperf.study.stats.seconds import write_complete
from mqperf_bundle.base import archive, signature
from mqperf_bundle.front.versions import differences, versions
from mqperf_bundle.record import layout
from mqperf_bundle.study.differences import compared

SAME = "the same here"
OURS = "mqperf"
"""Part of the name of mqperf and of each of its packages: tables and columns depend on their
versions."""

MADE_AGAIN = "made again, byte for byte"
MOST = 20
"""Most faults of a check that are listed; the others are counted."""


@dataclass(frozen=True, slots=True)
class Check:
    """A check: its subject, its result as a sentence, and its faults, if any."""

    what: str
    says: str
    faults: Sequence[str] = ()

    def lines(self) -> Iterator[str]:
        """Yield the check as text."""
        yield f"{self.what}: {self.says}"
        yield from (f"  {fault}" for fault in self.faults[:MOST])
        if more := self.faults[MOST:]:
            yield f"  and {len(more)} more"


@contextmanager
def unpacked(file: Path) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """Yield a temporary folder with the files of a bundle, and the sha256 of each file.

    Raises ``RecordError`` for a file that is not a bundle.
    """
    with processes.scratch("bundle") as scratch:
        folder = scratch / "bundle"
        folder.mkdir()
        try:
            digests = archive.unpack(file, folder)
        except FileNotFoundError:
            raise RecordError(f"{file}: no such file; give a bundle") from None
        if layout.MANIFEST not in digests:
            raise RecordError(f"{file}: is not a bundle: it has no {layout.MANIFEST}")
        yield folder, digests


def verify(file: Path, allowed: Path | None = None) -> Iterator[Check]:
    """Yield every check of a bundle.

    ``allowed`` is a file of signers, one of whom must have signed it.  Raises ``RecordError`` for a
    file that is not a bundle.
    """
    with unpacked(file) as (folder, digests):
        yield from checks(folder, digests, allowed)


def checks(
    folder: Path, digests: Mapping[str, str], allowed: Path | None = None
) -> Iterator[Check]:
    """Yield every check of an unpacked bundle; a failed check does not prevent the next one."""
    yield _checked("files", folder, lambda: _files(folder, digests))
    yield _checked("signature", folder, lambda: _signature(folder, allowed))
    yield _checked("seals", folder, lambda: _seals(folder))
    used = _checked("versions", folder, lambda: _versions(folder))
    yield used
    ours_differ = OURS in used.says
    yield _checked("tables", folder, lambda: _tables(folder, ours_differ=ours_differ))
    if used.says == SAME:
        yield _checked("report", folder, lambda: _pages(folder))
    else:
        yield Check("report", "not made again, as versions differ")


def _checked(what: str, folder: Path, check: Callable[[], tuple[str, Sequence[str]]]) -> Check:
    """Make a check; an error that prevents it becomes its fault."""
    try:
        return Check(what, *check())
    except MqperfError as error:
        why = str(error)
    except OSError as error:
        why = f"{error.filename}: {error.strerror}"
    return Check(what, "cannot be checked", [why.replace(f"{folder}/", "")])


def _files(folder: Path, digests: Mapping[str, str]) -> tuple[str, Sequence[str]]:
    listed = layout.read_manifest(folder)
    faults = [*layout.differing(listed, digests)]
    agree = amount(sum(digests.get(name) == digest for name, digest in listed.items()), "file")
    return f"{agree} as in the manifest", faults


def _signature(folder: Path, allowed: Path | None) -> tuple[str, Sequence[str]]:
    signed = folder / layout.SIGNATURE
    if not signed.exists():
        return "not signed", ["a signature is required"] if allowed else []
    try:
        return f"signed by {signature.signer(folder / layout.MANIFEST, signed, allowed)}", []
    except RecordError as error:
        return "not good", [str(error)]


def _seals(folder: Path) -> tuple[str, Sequence[str]]:
    whole, faults = 0, []
    for run in runs(folder / layout.RUNS):
        try:
            damaged = run.damaged()
        except MqperfError as error:
            faults.append(str(error).replace(f"{folder}/", ""))
            continue
        whole += not damaged
        faults += [f"{run.id}/{name}: is not what was recorded" for name in damaged]
    return f"{amount(whole, 'run')} as recorded", faults


def _versions(folder: Path) -> tuple[str, Sequence[str]]:
    try:
        bundled = json.loads(raw.content(folder / layout.VERSIONS, raw.FACTS_LIMIT_BYTES))
        differing = differences({str(name): str(bundled[name]) for name in bundled}, versions())
    except (ValueError, TypeError, RecursionError):
        raise RecordError(f"{layout.VERSIONS}: is not JSON by name") from None
    return f"made by {'; '.join(differing)}" if differing else SAME, []


def _tables(folder: Path, *, ours_differ: bool) -> tuple[str, Sequence[str]]:
    """Compare tables; if versions of mqperf differ, only different values and rows are faults."""
    with processes.scratch("tables") as again:
        write_complete(folder / layout.RUNS, again, "csv")
        result = compared(folder / layout.TABLES, again)
    agree = f"{amount(result.agree, 'value')} of {amount(result.tables, 'table')} agree"
    if not ours_differ:
        return agree, result.everything
    sentences = [amount(len(result.worded), "sentence")] if result.worded else []
    others = "; ".join([*result.apart, *sentences])
    return agree + (f"; of another version: {others}" if others else ""), result.differ


def _pages(folder: Path) -> tuple[str, Sequence[str]]:
    with processes.scratch("pages") as scratch:
        again = publish_file(folder / layout.RUNS, scratch / layout.PAGES).read_bytes()
    if again == raw.content(folder / layout.PAGES):
        return MADE_AGAIN, []
    return "made again", [f"{layout.PAGES}: differs from what its runs give"]
