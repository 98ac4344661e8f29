"""Turns a student's Markdown into harmless HTML: whoever reads it is logged in as a teacher.

Markdown allows HTML, links of any kind and pictures from anywhere. The text is rendered here, as by nbconvert
for formgrader and feedback, and sanitised with an allowlist. The result is one line inside a `<div>`, which
every Markdown renderer leaves unchanged.
"""

from __future__ import annotations

import base64
import binascii
import html
import re
from collections.abc import Iterator, Mapping
from typing import Any

from bleach.html5lib_shim import Filter
from bleach.sanitizer import Cleaner
from mistune import HTMLRenderer
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath

MAX_CHARACTERS = 20_000  # of one cell, without its pictures: some texts take the parser quadratic time
MAX_PICTURE_BYTES = 8 * 2**20
TAGS = {
    "a", "abbr", "b", "blockquote", "br", "code", "dd", "del", "details", "div", "dl", "dt", "em", "h1",
    "h2", "h3", "h4", "h5", "h6", "hr", "i", "img", "kbd", "li", "mark", "ol", "p", "pre", "q", "s",
    "small", "span", "strong", "sub", "summary", "sup", "table", "tbody", "td", "th", "thead", "tr",
    "tt", "u", "ul", "var",
}  # fmt: skip
_PICTURE_TYPES = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": b"GIF8",
    "image/webp": b"RIFF",
}
_INLINE = re.compile(r"data:(image/[a-z]+);base64,([A-Za-z0-9+/=]+)")
_LINK = re.compile(r"(?:https?://|mailto:)[^\s\"'<>`\\]+", re.IGNORECASE)
_REFERENCE = re.compile(r"&#?\w+;")
_LOCAL = "picture:"


def safe_markdown(source: str, attachments: Mapping[str, Any], formatted: bool = True) -> str:
    """Return Markdown that shows the same text, and neither runs nor loads anything.

    Kept are formatting, tables, code, formulas, links to web pages, and pictures (PNG, JPEG, GIF, WebP) that
    are attached or inline.

    Args:
        source: Markdown of a student.
        attachments: The pictures of the cell, as its notebook has them: `{name: {type: base64}}`.
        formatted: Whether to format it; otherwise the text is shown as it is. Formatting may take seconds.
    """
    pictures = _attached(attachments)
    text = _INLINE.sub(lambda found: _keep(pictures, found[1], found[2]), source)
    return f"<div>{_one_line(_sanitized(_rendered(text) if formatted else _verbatim(text), pictures))}</div>"


def _attached(attachments: Mapping[str, Any]) -> dict[str, str]:
    """Return the valid pictures of a cell as `data:` addresses, by the address that its text uses."""
    found = {}
    for name, contents in attachments.items():
        for kind, data in contents.items() if isinstance(contents, dict) else ():
            if isinstance(data, list):  # older formats split it into lines
                data = "".join(map(str, data))
            if isinstance(data, str) and _is_picture(kind, data):
                found[f"attachment:{name}"] = f"data:{kind};base64,{''.join(data.split())}"
    return found


def _keep(pictures: dict[str, str], kind: str, data: str) -> str:
    name = f"{_LOCAL}{len(pictures)}"
    if _is_picture(kind, data):
        pictures[name] = f"data:{kind};base64,{data}"
    return name


def _is_picture(kind: str, data: str) -> bool:
    try:
        raw = base64.b64decode("".join(data.split()), validate=True)
    except (binascii.Error, ValueError):
        return False
    return kind in _PICTURE_TYPES and raw.startswith(_PICTURE_TYPES[kind]) and len(raw) <= MAX_PICTURE_BYTES


class _Renderer(IPythonRenderer):
    """nbconvert's renderer, which leaves the addresses of pictures to `_sanitized`."""

    image = HTMLRenderer.image


def _rendered(text: str) -> str:
    try:
        if len(text) <= MAX_CHARACTERS:
            renderer = _Renderer(escape=False, exclude_anchor_links=True)
            return str(MarkdownWithMath(renderer=renderer).render(text))
    except Exception:  # of the parser, such as a RecursionError: show the text as it is
        pass
    return _verbatim(text)


def _verbatim(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


def _sanitized(page: str, pictures: Mapping[str, str]) -> str:
    class Pictures(_Pictures):
        known = pictures

    cleaner = Cleaner(
        TAGS, _is_allowed, protocols=["http", "https", "mailto", "attachment", "picture"], filters=[Pictures]
    )
    return str(cleaner.clean(page))


def _is_allowed(tag: str, name: str, value: str) -> bool:
    if tag == "a" and name == "href":
        return _LINK.fullmatch(value) is not None
    return (tag == "img" and name in ("src", "alt")) or name == "title"


class _Pictures(Filter):  # type: ignore[misc]  # bleach has no type information
    """Embeds known pictures, names the others, and opens links in a window of their own."""

    known: Mapping[str, str] = {}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        for token in super().__iter__():
            data = token.get("data")
            if token.get("name") == "img" and token["type"] in ("StartTag", "EmptyTag"):
                source = html.unescape(data.get((None, "src"), ""))
                if source not in self.known:
                    text = data.get((None, "alt")) or "without a text"
                    yield {"type": "Characters", "data": f"[picture: {text}]"}
                    continue
                data[None, "src"] = self.known[source]
            elif token.get("name") == "a" and token["type"] == "StartTag":
                data.update({(None, "rel"): "noopener noreferrer nofollow", (None, "target"): "_blank"})
            yield token


def _one_line(page: str) -> str:
    r"""Join the lines, so that a Markdown parser takes all for one block of HTML, and disarm formulas.

    In a formula `\href` makes a link of any kind; letters can be written as character references.
    """
    plain = _REFERENCE.sub(_character, page)
    return plain.replace("\\href", "\\text").replace("\r", "").strip("\n").replace("\n", "&#10;")


def _character(reference: re.Match[str]) -> str:
    character = html.unescape(reference[0])
    return reference[0] if set(character) & set("<>&\"'\r\n\t ") else character
