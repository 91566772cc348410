"""Built pages, as shown by a browser and by the theme of performance-docs."""

import base64
import gzip
import io
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

import matplotlib.image
import nbformat
import pytest
from browsing import Tab
from bs4 import BeautifulSoup
from factory import Shape, tables

from mqperf.base.errors import ReportError
from mqperf.pages.figures import palette
from mqperf.pages.report import single_file
from mqperf.pages.report.build import build
from mqperf.pages.report.single_file import fold

SHAPE = Shape(layouts=(("cmsm", "classic"), ("cs1ss2", "mirrored")), threads=(50, 100, 1000))
PAGE = "rabbitmq/cmsm/index.html"
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


@pytest.fixture(scope="module")
def single(report: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same report as a single file, alone in its folder."""
    return fold(report / "html", tmp_path_factory.mktemp("sent") / "sweep.html")


def test_html_loads_nothing_from_elsewhere(report: Path) -> None:
    """The report can be read offline."""
    loaded = re.compile(r"""<(?:script|img|link|iframe)\b[^>]*(?:src|href)=["'](?:https?:)?//""")
    remote_css = re.compile(r"@import|url\(\s*['\"]?(?:https?:)?//")
    for path in (report / "html").rglob("*"):
        if path.suffix == ".html":
            assert not loaded.search(path.read_text()), path
        if path.suffix == ".css":
            assert not remote_css.search(path.read_text()), path


def test_numbers_read_without_a_script(report: Path) -> None:
    """The script only improves tables; the page itself has every number."""
    page = (report / "html" / PAGE).read_text()
    table = page.split("RPC CALL Message count")[1].split("</table>")[0]
    assert re.search(r"<td><p><a [^>]+>1000</a></p></td>", table)
    assert all('alt="' in image for image in re.findall(r"<img [^>]+>", page))


@pytest.mark.needs_browser
def test_numbers_are_grouped_and_tables_sort(report: Path, tab: Tab) -> None:
    """A click on a heading sorts, a second one reverses, and the heading shows the order."""
    tab.show((report / "html" / PAGE).as_uri())
    for _ in range(2):
        tab.js("document.querySelectorAll('table.numbers th button')[1].click()")
    table = tab.html.split("RPC CALL Message count")[1].split("</table>")[0]
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
def test_the_page_itself_never_scrolls_sideways(report: Path, tab: Tab, width: int) -> None:
    """Wide tables and drawings scroll inside their own boxes."""
    tab.show((report / "html" / PAGE).as_uri(), width)
    ends = tab.js("[document.documentElement.scrollWidth, innerWidth]")
    assert ends == [width, width]


@pytest.mark.needs_browser
def test_what_is_wider_than_its_box_says_so(report: Path, tab: Tab) -> None:
    """More tables and drawings must be scrolled on a narrow screen than on a wide one."""
    # widths are measured when a frame is drawn, so all of them are known one frame later
    drawn = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))"
    notes = "[...document.querySelectorAll('.goes-on')]"
    counts = []
    for width in (3000, 500):
        tab.show((report / "html" / PAGE).as_uri(), width)
        tab.js(f"{drawn}.then(() => null)")
        counts.append(tab.js(f"[{notes}.filter(note => !note.hidden).length, {notes}.length]"))
    (few, of_as_many), (many, of_all) = counts
    assert few < many <= of_all == of_as_many
    assert "scroll right" in tab.html


@pytest.mark.needs_browser
@pytest.mark.parametrize("page", ["report", "single"])
def test_a_printed_page_has_all_columns(
    request: pytest.FixtureRequest, tab: Tab, page: str
) -> None:
    """On A4 no table is cut off, and no screen element covers the text."""
    place: Path = request.getfixturevalue(page)
    printed = place / "html" / PAGE if place.is_dir() else place
    tab.show(printed.as_uri(), round((297 - 2 * 12) / 25.4 * 96), media="print")
    ends = "[...document.querySelectorAll('table')].map(t => t.getBoundingClientRect().right)"
    assert tab.js(f"{ends}.length > 0 && {ends}.every(right => right <= innerWidth)")
    for name in (".skip-to-content", ".sidebar-drawer", ".toc-drawer", ".goes-on"):
        assert tab.js(f"getComputedStyle(document.querySelector('{name}')).display") == "none"


@pytest.mark.needs_browser
@pytest.mark.parametrize("paper", ["light", "dark"])
def test_a_figure_follows_the_readers_scheme(report: Path, tab: Tab, paper: str) -> None:
    """Opened alone, a drawing has the background of the scheme and contrasting lines."""
    drawing = report / "rabbitmq/throughput_on_different_topologies.svg"
    scheme = {"name": "prefers-color-scheme", "value": paper}
    tab.show(drawing.as_uri(), 700, 300, features=[scheme])
    picture = matplotlib.image.imread(io.BytesIO(tab.screenshot()))
    pixels = (picture[..., :3] * 255).round().astype(int)
    colours = {f"#{r:02x}{g:02x}{b:02x}" for r, g, b in pixels.reshape(-1, 3)}
    for shade in (palette.PAPER, palette.INK, palette.TOPOLOGIES[0]):
        assert getattr(shade, paper) in colours


def sphinx(source: Path, out: Path) -> None:
    """Build as a user does; a warning is an error."""
    command = [sys.executable, "-P", "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    built = subprocess.run(
        [*command, str(source), str(out)], cwd=source, capture_output=True, text=True, check=False
    )
    assert (built.returncode, built.stderr) == (0, "")


def dead_links(html: Path) -> list[str]:
    """Links and pictures of pages and notebooks for which there is no file."""
    return [
        f"{page.relative_to(html)}: {target}"
        for page in html.rglob("*.html")
        for target in LINK.findall(page.read_text())
        if not (ELSEWHERE.match(target) or (page.parent / unquote(target)).exists())
    ]


def notebooks_of(html: Path, page: str) -> list[str]:
    """The content of the notebooks that the page links, as HTML and as .ipynb."""
    links = re.findall(r'href="([^"]+/scaling\.(?:html|ipynb))"', (html / page).read_text())
    assert [link.rpartition(".")[2] for link in links] == ["html", "ipynb"]
    return [((html / page).parent / link).read_text() for link in links]


def test_links_work_as_built(report: Path) -> None:
    """Every link of every page leads to a file, also those to notebooks."""
    assert dead_links(report / "html") == []
    assert all("the answer is 42" in text for text in notebooks_of(report / "html", "index.html"))


def test_links_work_when_built_again(report: Path, tmp_path: Path) -> None:
    """``sphinx-build REPORT REPORT/html``, as in the README."""
    copy = shutil.copytree(report, tmp_path / "copy", ignore=shutil.ignore_patterns("html"))
    sphinx(copy, copy / "html")
    assert dead_links(copy / "html") == []
    assert all("the answer is 42" in text for text in notebooks_of(copy / "html", "index.html"))


def test_pages_fit_into_the_performance_docs(report: Path, tmp_path: Path) -> None:
    """In a tree with that project's theme they build without warnings and dead links."""
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
    html = tmp_path / "html"
    assert [dead for dead in dead_links(html) if dead.startswith("mq/sweep")] == []
    assert all("the answer is 42" in text for text in notebooks_of(html, "mq/sweep/index.html"))


def test_one_file_has_all_pages_and_needs_no_other(report: Path, single: Path) -> None:
    """Links lead into it, to other sites, or are data URLs; its element names are unique."""
    soup = BeautifulSoup(single.read_text(), "html.parser")
    names = [str(element["id"]) for element in soup.select("[id]")]
    assert len(names) == len({*names})
    links = [str(link["href"]) for link in soup.select("a[href]")]
    inside = {unquote(link[1:]) for link in links if link.startswith("#")}
    assert inside - {*names, ""} == set()
    assert [link for link in links if not re.match(r"#|https?://|data:", link)] == []
    loaded = [str(tag.get("src", tag.get("href"))) for tag in soup.select("[src], link, use")]
    assert [address for address in loaded if not re.match(r"#|data:image/", address)] == []
    styles = "".join(style.get_text() for style in soup.select("style"))
    assert not re.search(r"@import|url\((?!['\"]?data:)", styles)
    pages = [*(report / "html").rglob("index.html")]
    titles = [BeautifulSoup(page.read_text(), "html.parser").h1 for page in pages]
    headings = [heading.get_text() for heading in soup.select("h1")]
    assert sorted(headings) == sorted(title.get_text() for title in titles if title)


def test_one_file_has_the_data(report: Path, single: Path) -> None:
    """Downloads have the bytes of the files; large ones are compressed."""
    soup = BeautifulSoup(single.read_text(), "html.parser")
    downloads = {}
    for link in soup.select("a[download]"):
        content = base64.b64decode(str(link["href"]).partition("base64,")[2])
        downloads[str(link["download"])] = content
    assert gzip.decompress(downloads["cpu.csv.gz"]) == (report / "tables/cpu.csv").read_bytes()
    assert downloads["runs.parquet"] == (report / "tables/runs.parquet").read_bytes()


def test_data_too_large_for_one_file_stay_out(
    report: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The text says so, without a link."""
    monkeypatch.setattr(single_file, "LARGEST_BYTES", 10_000)
    text = fold(report / "html", tmp_path / "small.html").read_text()
    assert "Parquet (too large for one file)" in text
    assert not any(link["href"] == "" for link in BeautifulSoup(text, "html.parser").select("a"))


EXPLORE = """
new Promise((done) => {
const box = document.querySelector(".scrolls:has(img)");
box.dispatchEvent(new Event("pointerenter"));
const frame = box.querySelector("iframe");
frame.addEventListener("load", () => {
  const svg = frame.contentDocument.documentElement;
  svg.querySelector("[role=button]").dispatchEvent(new MouseEvent("click"));
  const series = [...svg.querySelectorAll("[data-series]")];
  const point = (kind, at, x, y) =>
    at.dispatchEvent(new PointerEvent(kind, { bubbles: true, button: 0, clientX: x, clientY: y }));
  point("pointerdown", svg, 60, 40);
  point("pointermove", svg, 400, 200);
  point("pointerup", svg, 400, 200);
  done([series.filter((one) => one.style.display === "none").length, series.length]);
});
})
"""


@pytest.mark.needs_browser
def test_a_drawing_is_explored_where_it_stands(report: Path, tab: Tab) -> None:
    """A click on a legend entry hides its lines."""
    tab.show((report / "html" / PAGE).as_uri())
    hidden, series = tab.js(EXPLORE)
    assert 0 < hidden < series


def test_one_file_replaces_only_its_like(report: Path, tmp_path: Path) -> None:
    """Any other existing file, or a folder, is named in the error and left unchanged."""
    letter = tmp_path / "letter.html"
    letter.write_text("<p>dear</p>")
    for place in (letter, tmp_path):
        with pytest.raises(ReportError, match=r"give (another|the) name"):
            fold(report / "html", place)
    assert letter.read_text() == "<p>dear</p>"
    assert fold(report / "html", fold(report / "html", tmp_path / "new.html")).is_file()


@pytest.mark.needs_browser
def test_one_file_shows_its_pictures(single: Path, tab: Tab) -> None:
    """Alone in a folder: every picture is shown, and tables sort as on the pages."""
    tab.show(single.as_uri())
    widths = tab.js("[...document.querySelectorAll('article img')].map(one => one.naturalWidth)")
    assert min(widths) > 0
    assert 'title="Sort by this column"' in tab.html
