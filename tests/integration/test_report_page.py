"""Built pages, as a browser and as the performance-docs' own theme show them."""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import matplotlib.image
import nbformat
import pytest
from factory import Shape, tables

from mqperf.figures import palette
from mqperf.report.build import build

SHAPE = Shape(layouts=(("cmsm", "classic"), ("cs1ss2", "mirrored")), threads=(50, 100, 1000))
PAGE = "rabbitmq/cmsm/index.html"
QUIET = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--hide-scrollbars", "--virtual-time-budget=3000"),
)
Browse = Callable[..., str]
LINK = re.compile(r"""<[^>]+?\s(?:href|src)=["']([^"'#?]+)""")
ELSEWHERE = re.compile(r"\w+:|//")


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report")
    cells = [
        nbformat.v4.new_markdown_cell("# Scaling"),
        nbformat.v4.new_code_cell(
            "42",
            execution_count=1,
            outputs=[nbformat.v4.new_output("stream", text="the answer is 42")],
        ),
    ]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), folder / "scaling.ipynb")
    build(tables(SHAPE), folder / "sweep", title="A sweep", notebooks=[folder / "scaling.ipynb"])
    return folder / "sweep"


@pytest.fixture
def browse(browser: str, tmp_path: Path) -> Iterator[Browse]:
    """Run the headless browser with a profile that is thrown away; gives what it prints."""
    profile = tmp_path / "profile"

    def run(*options: str) -> str:
        command = [browser, *QUIET, f"--user-data-dir={profile}", *options]
        browsed = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        return browsed.stdout

    yield run
    shutil.rmtree(profile, ignore_errors=True)


@contextmanager
def scripted(page: Path, script: str) -> Iterator[str]:
    """The address of a copy of the page which also runs the script when it is loaded."""
    trial = page.with_name("trial.html")
    listener = f"<script>addEventListener('load', () => {{ {script} }})</script></body>"
    trial.write_text(page.read_text().replace("</body>", listener))
    yield trial.as_uri()
    trial.unlink()


def test_html_loads_nothing_from_elsewhere(report: Path) -> None:
    """The report can be read from a memory stick, years later."""
    loaded = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*(?:src|href)=["'](?:https?:)?//""")
    remote_css = re.compile(r"@import|url\(\s*['\"]?(?:https?:)?//")
    for path in (report / "html").rglob("*"):
        if path.suffix == ".html":
            assert not loaded.search(path.read_text()), path
        if path.suffix == ".css":
            assert not remote_css.search(path.read_text()), path


def test_numbers_read_without_a_script(report: Path) -> None:
    """The script makes tables nicer; the page itself holds every number."""
    page = (report / "html" / PAGE).read_text()
    table = page.split("RPC CALL Message count")[1].split("</table>")[0]
    assert re.search(r"<td><p>1000</p></td>", table)
    assert all('alt="' in image for image in re.findall(r"<img [^>]+>", page))


@pytest.mark.needs_browser
def test_numbers_are_grouped_and_tables_sort(report: Path, browse: Browse) -> None:
    """A click on a heading sorts, another the other way, and the heading says so."""
    click = (
        "const b = document.querySelectorAll('table.numbers th button')[1]; b.click(); b.click()"
    )
    with scripted(report / "html" / PAGE, click) as address:
        shown = browse("--dump-dom", address)
    table = shown.split("RPC CALL Message count")[1].split("</table>")[0]
    rows = table.split("<tbody>")[1].split("<tr")[1:]
    values = [re.findall(r'data-value="(\d+)"', row) for row in rows]
    sent = [int(row[1]) for row in values[:-1]]
    assert 'aria-sort="descending"' in table
    assert len(sent) == 9
    assert sent == sorted(sent, reverse=True)
    assert "failed" in rows[-1]
    assert "\N{NARROW NO-BREAK SPACE}" in rows[0]


@pytest.mark.needs_browser
@pytest.mark.parametrize("width", [1400, 500])
def test_the_page_itself_never_scrolls_sideways(report: Path, browse: Browse, width: int) -> None:
    """Wide tables and drawings scroll inside their own boxes."""
    tell = "document.title = document.documentElement.scrollWidth - innerWidth"
    with scripted(report / "html" / PAGE, tell) as address:
        shown = browse(f"--window-size={width},900", "--dump-dom", address)
    assert "<title>0</title>" in shown


@pytest.mark.needs_browser
def test_a_printed_page_has_all_columns(report: Path, browse: Browse) -> None:
    """On a sheet of A4 no table is cut off, and nothing of the screen covers the text."""
    as_printed = (
        "for (const sheet of document.styleSheets) for (const rule of [...sheet.cssRules])"
        " if (rule.media?.mediaText === 'print') for (const own of rule.cssRules)"
        " sheet.insertRule(own.cssText, sheet.cssRules.length);"
        "const ends = [...document.querySelectorAll('table')]"
        ".map(table => table.getBoundingClientRect().right <= innerWidth);"
        "const shown = ['.skip-to-content', '.sidebar-drawer', '.toc-drawer']"
        ".map(name => getComputedStyle(document.querySelector(name)).display);"
        "document.title = [...new Set(ends), ...new Set(shown)].join(' ')"
    )
    width = round((297 - 2 * 12) / 25.4 * 96)
    with scripted(report / "html" / PAGE, as_printed) as address:
        options = ("--allow-file-access-from-files", f"--window-size={width},900", "--dump-dom")
        shown = browse(*options, address)
    assert "<title>true none</title>" in shown


@pytest.mark.needs_browser
@pytest.mark.parametrize("paper", ["light", "dark"])
def test_a_figure_follows_the_readers_scheme(
    report: Path, browse: Browse, tmp_path: Path, paper: str
) -> None:
    """Shown alone, a drawing has the paper of the scheme, and ink that stands out on it."""
    drawing = report / "rabbitmq/throughput_on_different_topologies.svg"
    picture = tmp_path / "shot.png"
    options = [
        "--window-size=700,300",
        f"--blink-settings=preferredColorScheme={paper == 'light':d}",
    ]
    browse(*options, f"--screenshot={picture}", drawing.as_uri())
    pixels = (matplotlib.image.imread(picture)[..., :3] * 255).round().astype(int)
    found = {f"#{r:02x}{g:02x}{b:02x}" for r, g, b in pixels.reshape(-1, 3)}
    for shade in (palette.PAPER, palette.INK, palette.TOPOLOGIES[0]):
        assert getattr(shade, paper) in found


def sphinx(source: Path, out: Path) -> None:
    """Build as a person does; a warning is an error."""
    command = [sys.executable, "-P", "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    built = subprocess.run(
        [*command, str(source), str(out)], cwd=source, capture_output=True, text=True, check=False
    )
    assert (built.returncode, built.stderr) == (0, "")


def dead_links(html: Path) -> list[str]:
    """Links and pictures of the pages, of which there is no file; the notebooks' own as well."""
    return [
        f"{page.relative_to(html)}: {target}"
        for page in html.rglob("*.html")
        for target in LINK.findall(page.read_text())
        if not (ELSEWHERE.match(target) or (page.parent / unquote(target)).exists())
    ]


def notebooks_of(html: Path, page: str) -> list[str]:
    """What stands in the notebooks that the page links, as HTML and to be run."""
    links = re.findall(r'href="([^"]+/scaling\.(?:html|ipynb))"', (html / page).read_text())
    assert [link.rpartition(".")[2] for link in links] == ["html", "ipynb"]
    return [((html / page).parent / link).read_text() for link in links]


def test_links_work_as_built(report: Path) -> None:
    """Every link of every page leads to a file, those to the notebooks as well."""
    assert dead_links(report / "html") == []
    assert all("the answer is 42" in text for text in notebooks_of(report / "html", "index.html"))


def test_links_work_when_built_again(report: Path, tmp_path: Path) -> None:
    """``sphinx-build REPORT REPORT/html``, as the README has it."""
    copy = shutil.copytree(report, tmp_path / "copy", ignore=shutil.ignore_patterns("html"))
    sphinx(copy, copy / "html")
    assert dead_links(copy / "html") == []
    assert all("the answer is 42" in text for text in notebooks_of(copy / "html", "index.html"))


def test_pages_fit_into_the_performance_docs(report: Path, tmp_path: Path) -> None:
    """Dropped into a tree with that project's theme, they build without a warning or dead link."""
    source = tmp_path / "doc"
    without = shutil.ignore_patterns("html", "conf.py", "docutils.conf")
    shutil.copytree(report, source / "mq/sweep", ignore=without)
    toctree = ".. toctree::\n   :numbered:\n   :maxdepth: 2\n\n   mq/sweep/index\n"
    (source / "index.rst").write_text(f"Results\n=======\n\n{toctree}")
    (source / "conf.py").write_text(
        'extensions = ["openstackdocstheme"]\nhtml_theme = "openstackdocs"\n'
        'openstackdocs_repo_name = "openstack/performance-docs"\n'
        'openstackdocs_auto_name = False\nproject = "performance-docs"\n'
    )
    # the theme asks git when each page was last changed
    for command in (
        ["init", "--quiet"],
        ["add", "--all"],
        ["-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "--quiet", "-m", "t"],
    ):
        subprocess.run(["git", *command], cwd=source, check=True)
    sphinx(source, tmp_path / "html")
    own = tmp_path / "html"
    assert [dead for dead in dead_links(own) if dead.startswith("mq/sweep")] == []
    assert all("the answer is 42" in text for text in notebooks_of(own, "mq/sweep/index.html"))
