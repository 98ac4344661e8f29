"""`python -m book`: write the pages and let Sphinx build the site. It needs no network."""

import argparse
import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from book import student_book
from book.open_links import OpenLinks
from book.teachers import teacher_book

COURSE = Path(__file__).parents[1]
STUDENTS, TEACHERS = COURSE / "build" / "book", COURSE / "build" / "teachers"
QUIET = ("-q", "--fail-on-warning", "--keep-going")


def build_student_book(target: Path, links: OpenLinks) -> int:
    """Build the book that everybody may read; return Sphinx's exit status.

    Args:
        target: The folder for sources and site. What is in it is replaced.
        links: Where lessons can be opened.
    """
    source = _empty(target)
    student_book.write_sources(COURSE, source, links)
    return _sphinx(source, target / "site")


def build_teacher_book(target: Path, mistakes: int) -> int:
    """Build the book for teachers, with model answers; return Sphinx's exit status.

    Args:
        target: The folder for sources and site. What is in it is replaced.
        mistakes: How many mistakes of each exercise are explained.
    """
    source = _empty(target)
    teacher_book.write_sources(COURSE, source, mistakes)
    status = _sphinx(source, target / "site", "-D", "html_title=Feeding the GPU, for teachers")
    teacher_book.write_slides(COURSE, target / "site")
    return status


def _empty(target: Path) -> Path:
    shutil.rmtree(target, ignore_errors=True)
    (target / "source").mkdir(parents=True)
    return target / "source"


def _sphinx(source: Path, site: Path, *options: str) -> int:
    return build_main([*QUIET, *options, "-b", "html", "-c", str(COURSE / "book"), str(source), str(site)])


def main(arguments: list[str] | None = None) -> int:
    """Build the book and say where it is."""
    parser = argparse.ArgumentParser(prog="python -m book", description=__doc__)
    parser.add_argument("--to", type=Path, help="folder (default: build/book, or build/teachers)")
    parser.add_argument("--teachers", action="store_true", help="the teachers' book, with model answers")
    parser.add_argument(
        "--mistakes",
        type=int,
        default=5,
        help="mistakes of each exercise, for teachers (default: %(default)s)",
    )
    parser.add_argument("--repository", default="", help="address of the students' repository, for links")
    parser.add_argument("--hub", default="", help="address of a JupyterHub with nbgitpuller, for links")
    options = parser.parse_args(arguments)
    target = (options.to or (TEACHERS if options.teachers else STUDENTS)).absolute()
    if options.teachers:
        status = build_teacher_book(target, options.mistakes)
    else:
        status = build_student_book(target, OpenLinks(options.repository, options.hub))
    if status == 0:
        sys.stdout.write(f"The book: {target / 'site' / 'index.html'}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
