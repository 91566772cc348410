"""What users read is plain technical English."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
TEXTS = [
    *(ROOT / "mqperf").rglob("*.py"),
    *ROOT.glob("packages/*/*/**/*.py"),
    *ROOT.glob("packages/*/README.md"),
    *(ROOT / "mqperf").rglob("*.j2"),
    *(ROOT / "mqperf").rglob("*.js"),
    *(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts),
    *(ROOT / "notebooks").glob("*.ipynb"),
    ROOT / "README.md",
]
RETIRED = {
    "heads no summary": "is never the headline if a sound point exists",
    "head no summary": "is never the headline if a sound point exists",
    "as a top is doubted": "a maximum is doubtful",
    "nothing that CPU and network show": "none found",
    "goes on to the right": "scroll right",
    "of the plan cost is": "losses from planned actions",
    "none is a change": "none is significant",
    "Ubuntu package none": "have no package",
}
"""A phrase that readers stumbled over -> what stands for it now."""


@pytest.mark.parametrize("phrase", RETIRED)
def test_a_retired_phrase_is_in_no_text(phrase: str) -> None:
    """Neither code nor page nor notebook has the phrase again, wherever its lines break."""
    texts = {path: " ".join(path.read_text(encoding="utf-8").split()) for path in TEXTS}
    assert [str(path) for path, text in texts.items() if phrase in text] == []
