"""The links of a released lesson to files beside its folder, and where they lead without these files."""

import re
from collections.abc import Callable

from grading.links.glossary import PAGE
from grading.links.package_names import PackageNames

_TO_SOURCE = re.compile(r"\[`(?P<span>[^`]+)`\]\(\.\./\.\./course_utils/[^)]*\)")
_TO_TERM = re.compile(rf"(?<=\]\()\.\./{re.escape(PAGE)}#(?P<term>[^)]*)(?=\))")


def redirect(markdown: str, source: Callable[[str], str], term: Callable[[str], str]) -> str:
    """Return a lesson's text with other links to sources and to the glossary.

    Args:
        markdown: A text of a released lesson.
        source: Returns what replaces a link to a source, given its text without backquotes.
        term: Returns the target of a link to a term, given its anchor in the book's glossary.
    """
    markdown = _TO_SOURCE.sub(lambda found: source(found["span"]), markdown)
    # The anchors of headings are in lower case in the book, and not in JupyterLab.
    return _TO_TERM.sub(lambda found: term(found["term"].lower()), markdown)


def to_book(markdown: str, names: PackageNames, address: str) -> str:
    """Return a lesson's text whose links to sources and to the glossary lead to pages of a book on the web.

    Args:
        markdown: A text of a released lesson.
        names: The names of the package that the lesson uses.
        address: Where the book is, such as `https://example.org/course`.
    """
    root = address.rstrip("/")

    def source(span: str) -> str:
        if (place := names.place(span)) is None:
            return f"`{span}`"
        anchor = place.anchor and f"#{place.anchor}"
        return f"[`{span}`]({root}/rooms/{place.room}.html{anchor})"

    return redirect(markdown, source, lambda term: f"{root}/lessons/glossary.html#{term}")
