"""`python -m book`: write the pages and let Sphinx build the site. It needs no network."""

import argparse
import shutil
import sys
from pathlib import Path

from sphinx.cmd.build import build_main

from book import student_book
from book.open_links import OpenLinks

COURSE = Path(__file__).parents[1]
TARGET = COURSE / "build" / "book"
QUIET = ("-q", "--fail-on-warning", "--keep-going")


def build(target: Path, links: OpenLinks) -> int:
    """Build the site; return Sphinx's exit status.

    Args:
        target: The folder of the site. What is in it is replaced.
        links: Where lessons can be opened.
    """
    source, site = target / "source", target / "site"
    shutil.rmtree(target, ignore_errors=True)
    source.mkdir(parents=True)
    student_book.write_sources(COURSE, source, links)
    return build_main([*QUIET, "-b", "html", "-c", str(COURSE / "book"), str(source), str(site)])


def main(arguments: list[str] | None = None) -> int:
    """Build the book and say where it is."""
    parser = argparse.ArgumentParser(prog="python -m book", description=__doc__)
    parser.add_argument("--to", type=Path, default=TARGET, help="folder (default: %(default)s)")
    parser.add_argument("--repository", default="", help="address of the students' repository, for links")
    parser.add_argument("--hub", default="", help="address of a JupyterHub with nbgitpuller, for links")
    options = parser.parse_args(arguments)
    target = options.to.absolute()
    status = build(target, OpenLinks(options.repository, options.hub))
    if status == 0:
        sys.stdout.write(f"The book: {target / 'site' / 'index.html'}\n")
    return status


if __name__ == "__main__":
    sys.exit(main())
