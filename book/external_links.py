"""Links to other hosts: a record of all of them, and a command that opens each one.

`python -m book.external_links` opens them, by Sphinx's own checker, and records which answered on which day;
`--list` only brings the record up to date with the texts, which needs no network.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from sphinx.cmd.build import build_main

COURSE = Path(__file__).parents[1]
RECORD = Path(__file__).with_name("external_links.json")
NOT_OPENED = "not opened yet"
ANSWERED = ("working", "redirected")
# Where links stand that people follow: texts and docstrings.
FOLDERS = ("book", "course_utils", "data_setup", "grading", "solutions", "tests/bench")
_LINK = re.compile(r"https?://[^\s<>\"'`()\[\]{}\\|^]+(?:\([^\s()]*\)[^\s<>\"'`()\[\]{}\\|^]*)*")
# Addresses in examples, and those that a program puts together.
_NO_PAGE = re.compile(
    r"https?://(?:www\.w3\.org/2000/svg|cdnjs\.|127\.0\.0\.1|localhost|[\w.]*example[\w.]*|the\.|your\.|git/|github\.com/(?:you|example)/)"
)


class Seen(NamedTuple):
    """What is known of a link.

    Attributes:
        day: When it answered last, such as "2026-11-22"; None if it never did.
        status: "working", "redirected", or why it did not answer when it was opened last.
    """

    day: str | None
    status: str


def links_in(text: str) -> set[str]:
    """Return the links of a text to pages on other hosts."""
    found = (one.group() for one in _LINK.finditer(text) if text[one.end() : one.end() + 1] != "{")
    pages = (link.rstrip(".,;:!?*_") for link in found if not _NO_PAGE.match(link))
    return {link for link in pages if "." in urlsplit(link).netloc}


def all_links(course: Path) -> set[str]:
    """Return the links in the texts, lessons and docstrings of the course."""
    return set().union(*map(links_in, _texts(course)))


def _texts(course: Path) -> Iterator[str]:
    paths = [path for folder in FOLDERS for path in (course / folder).rglob("*")]
    for path in (*course.glob("*.md"), *course.glob("*.cff"), *paths):
        if path.suffix in (".md", ".py", ".cff"):
            yield path.read_text()
        elif path.suffix == ".ipynb" and ".ipynb_checkpoints" not in path.parts:
            cells = json.loads(path.read_text())["cells"]
            yield "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")


def read_record(path: Path = RECORD) -> dict[str, Seen]:
    """Return what is known of each link."""
    return {link: Seen(**seen) for link, seen in json.loads(path.read_text()).items()}


def write_record(record: dict[str, Seen], path: Path = RECORD) -> None:
    """Write what is known of each link, sorted."""
    content = {link: seen._asdict() for link, seen in sorted(record.items())}
    path.write_text(json.dumps(content, indent=1) + "\n")


def updated(record: dict[str, Seen], links: set[str]) -> dict[str, Seen]:
    """Return a record of exactly these links."""
    return {link: record.get(link, Seen(None, NOT_OPENED)) for link in links}


def opened(record: dict[str, Seen], answers: dict[str, dict[str, Any]], today: date) -> dict[str, Seen]:
    """Return the record after its links were opened.

    Args:
        record: What was known before.
        answers: The entries of the checker's report, by link.
        today: The day of the check.
    """
    after = {}
    for link, before in record.items():
        answer = answers.get(link, {"status": "unchecked", "info": "not in the report"})
        status = answer["status"] if answer["status"] in ANSWERED else f"{answer['status']}: {answer['info']}"
        after[link] = Seen(today.isoformat() if answer["status"] in ANSWERED else before.day, status)
    return after


def open_all(links: set[str]) -> dict[str, dict[str, Any]]:
    """Open links and return the entries of the report of Sphinx's checker, by link."""
    with TemporaryDirectory() as folder:
        source = Path(folder)
        (source / "index.md").write_text("# Links\n\n" + "".join(f"- <{link}>\n" for link in sorted(links)))
        settings = (
            "extensions=myst_parser",
            "linkcheck_timeout=30",
            "linkcheck_retries=3",
            "linkcheck_anchors=0",
        )
        options = [part for setting in settings for part in ("-D", setting)]
        build_main(["-Q", "-C", *options, "-b", "linkcheck", folder, str(source / "report")])
        lines = (source / "report" / "output.json").read_text().splitlines()
    return {entry["uri"]: entry for entry in map(json.loads, lines)}


def main(arguments: list[str] | None = None) -> int:
    """Bring the record up to date; the status is 1 if a link did not answer."""
    parser = argparse.ArgumentParser(prog="python -m book.external_links", description=__doc__)
    parser.add_argument("--list", action="store_true", help="add new links to the record, and open none")
    options = parser.parse_args(arguments)
    record = updated(read_record() if RECORD.exists() else {}, all_links(COURSE))
    if not options.list:
        record = opened(record, open_all(set(record)), datetime.now(UTC).date())
    write_record(record)
    silent = {link: seen for link, seen in record.items() if seen.status not in ANSWERED}
    for link, seen in sorted(silent.items()):
        sys.stdout.write(f"{link}: {seen.status}\n")
    sys.stdout.write(f"{len(record)} links, {len(silent)} of them did not answer or were not opened yet\n")
    return int(bool(silent) and not options.list)


if __name__ == "__main__":
    sys.exit(main())
