"""The page that compares brokers, used with the keyboard in a real browser."""

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


def await_rates(tab: Tab, rates: list[str]) -> None:
    """Wait until these rates are shown in this order; the page follows its address with a delay."""
    assert eventually(lambda: tab.js(SHOWN) == rates), tab.js(SHOWN)


def tab_to(tab: Tab, name: str) -> None:
    """Press the Tab key until the element of this name or text has the focus."""
    for _ in range(40):
        tab.press("Tab", 9)
        if tab.js("document.activeElement.name || document.activeElement.textContent") == name:
            return
    raise AssertionError(f"the Tab key does not lead to {name}")


@pytest.mark.needs_browser
def test_cells_are_found_by_keyboard_and_by_address(tab: Tab, tmp_path: Path) -> None:
    """Filter and order are part of the address, which shows the same again; nothing is loaded.

    Doubtful rates are last in either order, the page fits a small screen and has a dark scheme,
    and markup in bundle data is not executed.
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
    assert tab.js(SHOWN) == [RABBITMQ, DOUBTED, NATS]
    assert tab.js("document.documentElement.scrollWidth <= innerWidth")
    paper = tuple(int(palette.PAPER.dark[place : place + 2], 16) for place in (1, 3, 5))
    assert tab.js("getComputedStyle(document.body).backgroundColor") == f"rgb{paper}"
    assert tab.js("performance.getEntriesByType('resource').length") == 0

    tab_to(tab, "system")
    for key, rates in (("ArrowDown", [RABBITMQ]), ("ArrowUp", [RABBITMQ, DOUBTED, NATS])):
        tab.press(key, KEYS[key])
        await_rates(tab, rates)
    tab_to(tab, "sustained")
    for rates in ([RABBITMQ, NATS, DOUBTED], [NATS, RABBITMQ, DOUBTED]):
        tab.press("Enter", 13, text="\r")
        await_rates(tab, rates)
    assert tab.js("location.hash") == "#sort=rate"

    tab.show("about:blank")  # another fragment alone would not reload the page
    tab.show(f"{file.as_uri()}#sort=-rate&system=NATS&release=none")
    assert tab.js(SHOWN) == [NATS, DOUBTED]
    assert tab.js("document.getElementById('shown').textContent") == "2 of 3 cells"
    assert tab.js("document.querySelector('[aria-sort]').textContent") == "sustained"
    assert tab.js("document.title") == "Brokers"
