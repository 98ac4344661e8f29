"""The built books: no solution for students, no other host asked, every page accessible in both themes."""

import functools
import html
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urljoin, urlsplit

import pytest
from playwright.sync_api import Browser, Page

from grading.links.preprocessors import LinkText
from tests.lessons.lesson import COURSE, LESSONS, OPTIONAL, Lesson, read
from tests.whole import IS_WHOLE

pytestmark = pytest.mark.proof

AXE = "axe-core@4"
STANDARD = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"]
CONTRAST = {"type": "rule", "values": ["color-contrast"]}  # the one rule that a theme can change
ONE = LESSONS[0].name  # the lesson whose code is looked at, too
SIZES = {"desktop": {"width": 1400, "height": 1000}, "phone": {"width": 390, "height": 844}}
_REGION = re.compile(r"### BEGIN SOLUTION\n(.*?)### END SOLUTION", re.DOTALL)
_TAG = re.compile(r"<[^>]+>")
_LINK = re.compile(r'(?:href|src)="([^"]*)"')


@pytest.fixture(scope="module")
def books(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the book for students and the one for teachers."""
    target = tmp_path_factory.mktemp("books")
    links = ["--repository", "https://github.com/example/students", "--hub", "https://hub.example.org"]
    for name, options in {"students": links, "teachers": ["--teachers", "--mistakes", "0"]}.items():
        command = [sys.executable, "-m", "book", "--to", str(target / name), *options]
        done = subprocess.run(command, cwd=COURSE, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def book(books: Path) -> Path:
    return books / "students" / "site"


@pytest.fixture(scope="module")
def pages(books: Path) -> list[str]:
    found = (path.relative_to(books) for path in books.glob("*/site/**/*.html"))
    return sorted(str(path) for path in found if "_static" not in path.parts)


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture(scope="module")
def address(books: Path) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(books)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()


@pytest.fixture(scope="module")
def axe(tmp_path_factory: pytest.TempPathFactory) -> str:
    if not shutil.which("npm"):
        pytest.skip("no npm here to install axe-core with")
    folder = tmp_path_factory.mktemp("axe")
    subprocess.run(["npm", "install", "--silent", "--prefix", folder, AXE], check=True)
    return (folder / "node_modules" / "axe-core" / "axe.min.js").read_text()


def test_every_lesson_has_a_page(book: Path, lesson: Lesson):
    assert (book / "lessons" / lesson.name / f"{lesson.name}.html").exists()


def test_no_line_of_a_solution_is_in_the_book_or_on_a_slide(book: Path, books: Path):
    files = [*book.rglob("*"), *(books / "teachers" / "site" / "slides").iterdir()]
    texts = {path: squeezed(text_of(path)) for path in files if path.suffix in TEXTS}
    found = [
        (path.name, line) for line in sorted(secret_lines()) for path, text in texts.items() if line in text
    ]
    assert not found


TEXTS = {".html", ".js", ".json", ".txt", ".ipynb", ".md", ".py", ".inv", ".svg"}
SHARED = ("course_utils", "data_setup")
NOTEBOOKS = [*LESSONS, *OPTIONAL]


def secret_lines() -> set[str]:
    """The lines of all solutions that students do not get elsewhere, without white space."""
    released = [cell.source for lesson in NOTEBOOKS for cell in read(lesson.release).cells]
    code = [path.read_text() for top in SHARED for path in (COURSE / top).rglob("*.py")]
    public = squeezed("\n".join(released + code))
    cells = [cell.source for lesson in NOTEBOOKS for cell in read(lesson.solution).cells]
    regions = [region for source in cells for region in _REGION.findall(source + "\n")]
    assert len(regions) >= 2 * len(LESSONS)
    lines = {squeezed(line) for region in regions for line in region.splitlines()}
    return {line for line in lines if line not in public}


def text_of(path: Path) -> str:
    text = path.read_text(errors="replace")
    return html.unescape(_TAG.sub("", text)) if path.suffix == ".html" else text


def squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)


def test_search_for_solutions_finds_one_that_is_there():
    assert secret_lines()
    line = max(secret_lines(), key=len)
    assert line in squeezed(html.unescape(_TAG.sub("", f"<pre><span>{html.escape(line)}</span></pre>")))


def test_internal_links_lead_somewhere(books: Path, pages: list[str]):
    broken = []
    for name in pages:
        for link in _LINK.findall((books / name).read_text()):
            target = urlsplit(urljoin(f"//books/{name}", html.unescape(link)))
            if target.scheme or target.netloc != "books" or not target.path:
                continue
            path = books / unquote(target.path).lstrip("/")
            path = path / "index.html" if path.is_dir() else path
            if not path.exists() or not has_place(path, unquote(target.fragment)):
                broken.append((name, link))
    assert not broken


def has_place(path: Path, name: str) -> bool:
    return not name or f'id="{name}"' in path.read_text()


def test_links_of_a_release_with_the_address_of_the_book_lead_somewhere(book: Path, lesson: Lesson):
    resources = {"metadata": {"path": str(lesson.solution.parent)}}
    released, _ = LinkText(book="https://book").preprocess(read(lesson.solution), resources)
    found = [link for cell in released.cells for link in re.findall(r"\(https://book/([^)]*)\)", cell.source)]
    assert found
    for path, _, place in (link.partition("#") for link in found):
        assert has_place(book / path, place), (path, place)


@dataclass
class Visit:
    """What a browser finds on a page."""

    requests: list[str] = field(default_factory=list)
    violations: dict[str, list[str]] = field(default_factory=dict)
    wider_than: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def visits(browser: Browser, address: str, pages: list[str], axe: str) -> dict[str, Visit]:
    """Each page is loaded once, and seen in both themes and sizes; of the rooms a few without WHOLE=yes."""
    context = browser.new_context(viewport=SIZES["desktop"], color_scheme="light", reduced_motion="reduce")
    page = context.new_page()
    same = "teachers/site/lessons/"  # as in the students' book
    rooms = [name for name in pages if "/rooms/" in name]  # all of one template, and the largest
    left_out = set() if IS_WHOLE else {*rooms} - {*rooms[::6]}
    chosen = [name for name in pages if not name.startswith(same) and name not in left_out]
    # Code has the colours of one style sheet, and thousands of words.
    found = {
        name: visit(page, address + name, axe, [] if IS_WHOLE or ONE in name else [".highlight"])
        for name in chosen
    }
    context.close()
    return found


def visit(page: Page, url: str, axe: str, skip: list[str]) -> Visit:
    seen = Visit()
    record = lambda request: seen.requests.append(request.url)  # noqa: E731 - the same object is removed
    page.on("request", record)
    page.set_viewport_size(SIZES["desktop"])
    page.emulate_media(color_scheme="light")
    page.goto(url)
    page.evaluate(axe)
    seen.violations["light"] = violations(page, STANDARD, skip)
    page.emulate_media(color_scheme="dark")  # for slides
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    seen.violations["dark"] = violations(page, CONTRAST, skip)
    for name, size in SIZES.items():
        page.set_viewport_size(size)
        if page.evaluate("document.documentElement.scrollWidth > document.documentElement.clientWidth"):
            seen.wider_than.append(name)
    page.remove_listener("request", record)
    return seen


def violations(page: Page, rules: object, skip: Sequence[str] = ()) -> list[str]:
    """Return the violated rules of a page, each with the first elements; some are skipped, by selectors."""
    results = page.evaluate(
        "([rules, exclude]) => axe.run({exclude}, {runOnly: rules, resultTypes: ['violations']})",
        [rules, list(skip)],
    )
    return [
        f"{one['id']}: {len(one['nodes'])} times, such as {[node['html'][:160] for node in one['nodes'][:2]]}"
        for one in results["violations"]
    ]


def test_pages_load_nothing_from_other_hosts(visits: dict[str, Visit], address: str):
    asked = [url for seen in visits.values() for url in seen.requests]
    assert asked
    assert not [url for url in asked if not url.startswith((address, "data:"))]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_page_follows_wcag(visits: dict[str, Visit], theme: str):
    assert not {name: seen.violations[theme] for name, seen in visits.items() if seen.violations[theme]}


def test_no_page_is_wider_than_the_screen(visits: dict[str, Visit]):
    assert not {name: seen.wider_than for name, seen in visits.items() if seen.wider_than}


def test_axe_finds_what_is_wrong(browser: Browser, axe: str):
    page = browser.new_page()
    page.set_content("<html lang='en'><title>A page</title><main><img src='data:,'></main></html>")
    page.evaluate(axe)
    assert [one.partition(":")[0] for one in violations(page, STANDARD)] == ["image-alt"]
    page.close()


LESSON = LESSONS[-1].name
KINDS = {
    "index": "students/site/index.html",
    "lesson": f"students/site/lessons/{LESSON}/{LESSON}.html",
    "glossary": "students/site/lessons/glossary.html",
    "room": "students/site/rooms/course_utils.scratch.html",
    "benchmark": "students/site/benchmarks/other_formats.html",
    "search": "students/site/search.html?q=page+cache",
    "a teacher's lesson": f"teachers/site/{LESSON}.html",
}
FIND_CONTROLS = """() => {
    const shown = element =>
        element.checkVisibility({checkVisibilityCSS: true}) && element.getClientRects().length;
    const scrolls = element => element.scrollWidth > element.clientWidth + 1
        && ['auto', 'scroll'].includes(getComputedStyle(element).overflowX);
    window.controls = new Set([...document.querySelectorAll('a[href], button, input, select, summary')]
        .filter(element => shown(element) && !element.disabled && !element.closest('[inert]')));
    for (const element of document.querySelectorAll('main *'))
        if (shown(element) && scrolls(element) && !element.querySelector('a[href]')) controls.add(element);
    window.reached = new Set();
    window.unseen = [];
    document.addEventListener('focusin', ({target}) => {
        reached.add(target);
        const style = getComputedStyle(target);
        const outline = style.outlineStyle !== 'none' && parseFloat(style.outlineWidth);
        if (!outline && style.boxShadow === 'none')
            unseen.push(target.outerHTML.slice(0, 160));
    });
    return controls.size;
}"""
NOT_REACHED = "() => [...controls].filter(one => !reached.has(one)).map(one => one.outerHTML.slice(0, 160))"


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", KINDS)
def test_keyboard_reaches_every_control_and_shows_it(browser: Browser, address: str, kind: str, size: str):
    page = browser.new_page(viewport=SIZES[size], reduced_motion="reduce")
    page.goto(address + KINDS[kind])
    page.wait_for_load_state("networkidle")
    controls = page.evaluate(FIND_CONTROLS)
    assert controls > 5
    for _ in range(controls + 20):
        page.keyboard.press("Tab")
    assert not page.evaluate(NOT_REACHED)
    assert not page.evaluate("unseen")
    page.close()


def test_keyboard_opens_an_answer_and_the_search(browser: Browser, address: str):
    page = browser.new_page(viewport=SIZES["desktop"])
    page.goto(f"{address}students/site/lessons/{OPTIONAL[0].folder}/{OPTIONAL[0].name}.html")
    page.locator("details > summary").first.focus()
    page.keyboard.press("Enter")
    assert page.locator("details").first.get_attribute("open") is not None
    page.keyboard.press("Control+k")
    page.keyboard.type("page cache")
    page.keyboard.press("Enter")
    page.wait_for_selector("ul.search li")
    page.close()


FIND_BROKEN_WORDS = """() => {
    const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
    const range = document.createRange(), broken = [];
    for (let node; (node = walker.nextNode()); ) {
        const element = node.parentElement;
        if (!element.checkVisibility() || element.closest('math, svg, script')) continue;
        for (const word of node.data.matchAll(/[\\p{L}\\p{N}_]+/gu)) {
            range.setStart(node, word.index);
            range.setEnd(node, word.index + word[0].length);
            const boxes = [...range.getClientRects()].filter(box => box.width);
            if (new Set(boxes.map(box => Math.round(box.top))).size > 1) broken.push(word[0]);
        }
    }
    return broken;
}"""
CUT_COMMANDS = """() => [...document.querySelectorAll('.highlight-none pre')]
    .filter(one => one.scrollWidth > one.clientWidth + 1).map(one => one.textContent)"""
SEARCH = "header .search-button-field, .bd-sidebar-primary .search-button-field"


def test_words_and_commands_are_whole_and_there_is_one_search(
    browser: Browser, address: str, pages: list[str]
):
    page = browser.new_page(viewport=SIZES["desktop"])
    found = {}
    for name in (one for one in pages if "/slides/" not in one):
        page.goto(address + name)
        searches = page.locator(f":is({SEARCH}):visible").count()
        found[name] = (page.evaluate(FIND_BROKEN_WORDS), page.evaluate(CUT_COMMANDS), searches)
    page.close()
    assert len(found) > 20
    assert not {name: seen for name, seen in found.items() if seen != ([], [], 1)}


@pytest.mark.parametrize("kind", ["students", "teachers"])
def test_results_of_a_search_can_be_read_in_the_dark_and_on_a_phone(
    browser: Browser, address: str, axe: str, kind: str
):
    page = browser.new_page(viewport=SIZES["phone"])
    page.goto(f"{address}{kind}/site/search.html?q=course_utils")
    page.wait_for_selector("ul.search li .highlighted")
    assert page.evaluate("document.documentElement.scrollWidth") <= SIZES["phone"]["width"]
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.evaluate(axe)
    assert not violations(page, CONTRAST)
    page.goto(f"{address}{kind}/site/search.html?q=cache")
    first = page.locator("ul.search li a").first
    assert "course_utils." not in first.inner_text()  # text that explains stands above code
    page.close()


def test_every_slide_fits_on_a_projector(browser: Browser, address: str):
    page = browser.new_page(viewport={"width": 1280, "height": 720})
    too_high = {}
    for lesson in LESSONS:
        page.goto(f"{address}teachers/site/slides/{lesson.name}.html")
        slides = page.locator("section").evaluate_all("all => all.map(one => [one.id, one.offsetHeight])")
        too_high[lesson.name] = [name for name, height in slides if height > 720]
    page.close()
    assert not {name: slides for name, slides in too_high.items() if slides}


def test_keyboard_turns_the_slides(browser: Browser, address: str):
    page = browser.new_page(viewport=SIZES["desktop"])
    page.goto(f"{address}teachers/site/slides/{LESSONS[0].name}.html")
    for key in ("ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        page.wait_for_timeout(200)
    assert page.evaluate("document.activeElement.id") == "slide-2"
    page.close()
