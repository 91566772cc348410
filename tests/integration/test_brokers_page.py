"""The page that compares brokers, as a reader with a keyboard meets it in a real browser."""

from pathlib import Path

import pytest
from broker_cells import cell, nats
from driven_browser import Page, opened
from patience import eventually

from mqperf.pages.figures import palette
from mqperf_brokers.pages.page import page

TRIXIE = "Debian GNU/Linux 13 (trixie)"
SHOWN = (
    "[...document.querySelectorAll('#box tbody tr')].filter(row => !row.hidden)"
    ".map(row => row.cells[2].textContent)"
)
RABBITMQ, NATS, DOUBTED = (
    f"{ends} msg/sec"
    for ends in ("1,000 (900 to 1,100)", "600 (500 to 700)", "2,500 (2,000 to 3,000)")
)


def soon(shown: Page, rates: list[str]) -> None:
    """Wait until these are shown, in this order: a new address is told a little later."""
    assert eventually(lambda: shown.ask(SHOWN) == rates), shown.ask(SHOWN)


def tab_to(shown: Page, name: str) -> None:
    """Go on with the Tab key until the element of this name or text has the focus."""
    for _ in range(40):
        shown.press("Tab")
        if shown.ask("document.activeElement.name || document.activeElement.textContent") == name:
            return
    raise AssertionError(f"the Tab key does not lead to {name}")


@pytest.mark.needs_browser
def test_cells_are_found_by_keyboard_and_by_address(browser: str, tmp_path: Path) -> None:
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
    with opened(browser, tmp_path / "profile") as shown:
        size = {"width": 400, "height": 800, "deviceScaleFactor": 1, "mobile": False}
        shown.call("Emulation.setDeviceMetricsOverride", **size)
        dark = [{"name": "prefers-color-scheme", "value": "dark"}]
        shown.call("Emulation.setEmulatedMedia", features=dark)
        shown.open(file.as_uri())
        assert shown.ask(SHOWN) == [RABBITMQ, DOUBTED, NATS]
        assert shown.ask("document.documentElement.scrollWidth <= innerWidth")
        paper = tuple(int(palette.PAPER.dark[place : place + 2], 16) for place in (1, 3, 5))
        assert shown.ask("getComputedStyle(document.body).backgroundColor") == f"rgb{paper}"
        assert shown.ask("performance.getEntriesByType('resource').length") == 0

        tab_to(shown, "system")
        for key, rates in (("ArrowDown", [RABBITMQ]), ("ArrowUp", [RABBITMQ, DOUBTED, NATS])):
            shown.press(key)
            soon(shown, rates)
        tab_to(shown, "sustained")
        for rates in ([RABBITMQ, NATS, DOUBTED], [NATS, RABBITMQ, DOUBTED]):
            shown.press("Enter")
            soon(shown, rates)
        assert shown.ask("location.hash") == "#sort=rate"

        shown.open(f"{file.as_uri()}#sort=-rate&system=NATS&release=none")
        assert shown.ask(SHOWN) == [NATS, DOUBTED]
        assert shown.ask("document.getElementById('shown').textContent") == "2 of 3 cells"
        assert shown.ask("document.querySelector('[aria-sort]').textContent") == "sustained"
        assert shown.ask("document.title") == "Brokers"
