"""The page that compares brokers, as a reader with a keyboard meets it in a real browser."""

from pathlib import Path

import pytest
from broker_cells import cell, nats
from browsing import Tab
from patience import eventually

from mqperf.pages.figures import palette
from mqperf_brokers.pages.page import page

KEYS = {"ArrowUp": 38, "ArrowDown": 40}
TRIXIE = "Debian GNU/Linux 13 (trixie)"
SHOWN = (
    "[...document.querySelectorAll('#box tbody tr')].filter(row => !row.hidden)"
    ".map(row => row.cells[2].textContent)"
)
RABBITMQ, NATS, DOUBTED = (
    f"{ends} msg/sec"
    for ends in ("1,000 (900 to 1,100)", "600 (500 to 700)", "2,500 (2,000 to 3,000)")
)


def soon(shown: Tab, rates: list[str]) -> None:
    """Wait until these are shown, in this order: a new address is told a little later."""
    assert eventually(lambda: shown.look(SHOWN) == rates), shown.look(SHOWN)


def tab_to(shown: Tab, name: str) -> None:
    """Go on with the Tab key until the element of this name or text has the focus."""
    for _ in range(40):
        shown.press("Tab", 9)
        if shown.look("document.activeElement.name || document.activeElement.textContent") == name:
            return
    raise AssertionError(f"the Tab key does not lead to {name}")


@pytest.mark.needs_browser
def test_cells_are_found_by_keyboard_and_by_address(tab: Tab, tmp_path: Path) -> None:
    """Filter and order stand in the address, which shows the same again; nothing is loaded.

    A doubted rate is last either way, the page is as wide as a small screen, and dark for whoever
    likes that; strangers' words run nothing.
    """
    hostile = "<img src=x onerror='document.title=1'><script>document.title=1</script>"
    cells = [
        cell(900, 1100, versions=hostile),
        nats(500, 700, release=TRIXIE),
        nats(2000, 3000, doubts=(hostile,)),
    ]
    file = tmp_path / "index.html"
    file.write_text(page("Brokers", cells, [cell(950, 1050, day="2026-11-28")], [hostile]))
    dark = [{"name": "prefers-color-scheme", "value": "dark"}]
    tab.show(file.as_uri(), 400, 800, features=dark)
    assert tab.look(SHOWN) == [RABBITMQ, DOUBTED, NATS]
    assert tab.look("document.documentElement.scrollWidth <= innerWidth")
    paper = tuple(int(palette.PAPER.dark[place : place + 2], 16) for place in (1, 3, 5))
    assert tab.look("getComputedStyle(document.body).backgroundColor") == f"rgb{paper}"
    assert tab.look("performance.getEntriesByType('resource').length") == 0

    tab_to(tab, "system")
    for key, rates in (("ArrowDown", [RABBITMQ]), ("ArrowUp", [RABBITMQ, DOUBTED, NATS])):
        tab.press(key, KEYS[key])
        soon(tab, rates)
    tab_to(tab, "sustained")
    for rates in ([RABBITMQ, NATS, DOUBTED], [NATS, RABBITMQ, DOUBTED]):
        tab.press("Enter", 13, text="\r")
        soon(tab, rates)
    assert tab.look("location.hash") == "#sort=rate"

    tab.show("about:blank")  # or another fragment would load nothing
    tab.show(f"{file.as_uri()}#sort=-rate&system=NATS&release=none")
    assert tab.look(SHOWN) == [NATS, DOUBTED]
    assert tab.look("document.getElementById('shown').textContent") == "2 of 3 cells"
    assert tab.look("document.querySelector('[aria-sort]').textContent") == "sustained"
    assert tab.look("document.title") == "Brokers"
