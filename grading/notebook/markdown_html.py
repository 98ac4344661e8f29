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
from collections.abc import Mapping
from typing import Any

import nh3
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
    page = _rendered(text, pictures) if formatted else _verbatim(text)
    return f"<div>{_one_line(_sanitized(page, pictures))}</div>"


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
    """nbconvert's renderer; a picture that is not there is named."""

    known: Mapping[str, str] = {}

    def image(self, text: str, url: str, title: str | None = None) -> str:
        """Return the element of a known picture, or its text; other elements do not pass `_sanitized`."""
        if url not in self.known:
            return html.escape(f"[picture: {text or 'without a text'}]")
        return f'<img src="{html.escape(url)}" alt="{html.escape(text)}">'


def _rendered(text: str, pictures: Mapping[str, str]) -> str:
    try:
        if len(text) <= MAX_CHARACTERS:
            renderer = _Renderer(escape=False, exclude_anchor_links=True)
            renderer.known = pictures
            return str(MarkdownWithMath(renderer=renderer).render(text))
    except Exception:  # of the parser, such as a RecursionError: show the text as it is
        pass
    return _verbatim(text)


def _verbatim(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


def _sanitized(page: str, pictures: Mapping[str, str]) -> str:
    def keep(tag: str, name: str, value: str) -> str | None:
        if name == "src":
            return pictures.get(value)
        return value if name != "href" or _LINK.fullmatch(value) else None

    return nh3.clean(
        page,
        tags=TAGS,
        clean_content_tags=set(),  # what a script says is shown as text
        attributes={"a": {"href"}, "img": {"src", "alt"}, "*": {"title"}},
        attribute_filter=keep,
        url_schemes={"http", "https", "mailto", "attachment", "picture"},
        set_tag_attribute_values={"a": {"target": "_blank"}},
        link_rel="noopener noreferrer nofollow",
    )


def _one_line(page: str) -> str:
    r"""Join the lines, so that a Markdown parser takes all for one block of HTML, and disarm formulas.

    In a formula `\href` makes a link of any kind; letters can be written as character references.
    """
    plain = _REFERENCE.sub(_character, page)
    return plain.replace("\\href", "\\text").replace("\r", "").strip("\n").replace("\n", "&#10;")


def _character(reference: re.Match[str]) -> str:
    character = html.unescape(reference[0])
    return reference[0] if set(character) & set("<>&\"'\r\n\t ") else character
