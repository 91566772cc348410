"""Verdicts as JUnit XML, for continuous integration."""

from collections.abc import Sequence
from dataclasses import dataclass
from xml.etree import ElementTree as ET


@dataclass(frozen=True, slots=True)
class Case:
    """A test case; why it failed, could not be tried or was not decided, all empty if it passed."""

    name: str
    failure: str = ""
    error: str = ""
    skipped: str = ""


def suite(name: str, cases: Sequence[Case], output: Sequence[str], duration_s: float) -> str:
    """Return the XML of a suite of these cases; ``output`` are the lines of its output."""
    counts = {
        "tests": len(cases),
        "failures": sum(bool(case.failure) for case in cases),
        "errors": sum(bool(case.error) for case in cases),
        "skipped": sum(bool(case.skipped) for case in cases),
    }
    top = ET.Element(
        "testsuite",
        {"name": name, "time": f"{duration_s:.3f}"}
        | {kind: str(number) for kind, number in counts.items()},
    )
    for case in cases:
        names = {"classname": name.replace(" ", "."), "name": _xml(case.name)}
        element = ET.SubElement(top, "testcase", names)
        for kind in ("failure", "error", "skipped"):
            if text := getattr(case, kind):
                ET.SubElement(element, kind, {"message": _xml(text)})
    ET.SubElement(top, "system-out").text = "\n".join(map(_xml, output)) or "no doubts"
    ET.indent(top)
    return ET.tostring(top, encoding="unicode", xml_declaration=True) + "\n"


def _xml(text: str) -> str:
    """Return the text without characters that XML cannot have."""
    return "".join(character if character.isprintable() else " " for character in text)
