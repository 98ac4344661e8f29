"""What a stranger looks for is at most two links away from the README, and a link says where it leads."""

import re
from pathlib import Path

import pytest

from tests.lessons.lesson import COURSE

LINK = re.compile(r"(?<!!)\[([^\]]*)\]\((?!https?:)([^)\s]*)\)")
README, TEACHERS = COURSE / "README.md", COURSE / "book" / "teachers" / "pages"
TEACHERS_PAGES = sorted(TEACHERS.glob("*.md"))
OF_THE_BOOK = "run_it_yourself.md"  # made of the student's page
STUDENT, CONTRIBUTING = COURSE / "grading/site/student_readme.md", COURSE / "CONTRIBUTING.md"
CLUSTER, ADMINISTRATORS = TEACHERS / "a_site.md", TEACHERS / "with_administrators.md"
INSTALLATIONS, ROOM, SANDBOX = (
    TEACHERS / f"{name}.md" for name in ("installations", "in_the_room", "the_sandbox")
)
# What is looked for: where it stands, and words of it.
TOPICS = {
    "a course without administrators": (CLUSTER, "# A course on a cluster, without administrators"),
    "what administrators can add": (ADMINISTRATORS, "# What administrators can add"),
    "a Python of its own": (INSTALLATIONS, "## A Python of its own"),
    "an installation without network": (INSTALLATIONS, "## Without network"),
    "a student's machine without network": (STUDENT, "make packages PACKAGES=packages"),
    "what a cluster lacks": (SANDBOX, "## What a cluster may lack"),
    "presets, and other sites": (CLUSTER, "## Presets of sites"),
    "the record kit": (TEACHERS / "records.md", "# A record of your file system"),
    "the recipe for Apptainer": (INSTALLATIONS, "`apptainer.def`"),
    "the devcontainer": (INSTALLATIONS, "`.devcontainer/devcontainer.json`"),
    "what AGENTS.md asks of assistants": (ROOM, "## Assistants that write code"),
    "versions of Python": (INSTALLATIONS, "3.15"),
    "how a release is made": (CONTRIBUTING, "## Make a release of the course"),
}


def links(page: Path) -> list[tuple[str, Path, str]]:
    """Text, file and anchor of each link of a page to another file, in one line or two."""
    found = LINK.findall(page.read_text())
    parted = [(text, *target.partition("#")) for text, target in found]
    return [(text, (page.parent / path).resolve(), anchor) for text, path, _, anchor in parted if path]


def after_clicks(number: int) -> set[Path]:
    """The Markdown files that are reached from the README by at most so many links."""
    pages = {README}
    for _ in range(number):
        reached = {path for page in pages for _, path, _ in links(page)}
        pages |= {path for path in reached if path.suffix == ".md" and path.exists()}
    return pages


def anchors(page: Path) -> set[str]:
    """The headings of a page, as links name them."""
    headings = re.findall(r"^#+ (.*)", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", text.lower()).replace(" ", "-") for text in headings}


@pytest.mark.parametrize("topic", TOPICS)
def test_topic_is_two_clicks_away(topic: str):
    page, words = TOPICS[topic]
    assert page in after_clicks(2)
    assert words in page.read_text()


@pytest.mark.parametrize("page", [README, CONTRIBUTING, STUDENT, *TEACHERS_PAGES], ids=lambda page: page.name)
def test_links_have_a_text_and_lead_somewhere(page: Path):
    for text, target, anchor in links(page):
        assert text.strip(), f"only the book fills in a text: {target.name}"
        assert target.exists() or target.name == OF_THE_BOOK
        assert not anchor or anchor in anchors(target)


def test_readme_is_short():
    assert len(README.read_text().split()) <= 700
