"""A Sphinx extension: names in docstrings and signatures lead to the pages of rooms that offer them."""

import re
from collections import defaultdict
from functools import cache
from pathlib import Path
from typing import Any

from docutils.nodes import Element, reference
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinx.util.nodes import make_refnode

from book.room_pages import offered, room_names

COURSE = Path(__file__).parents[1]
_NAME = re.compile(r"(?<![`:\w])`(?P<name>[A-Za-z]\w+)(?:\(\))?`(?![`_])")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect the extension with Sphinx."""
    app.connect("autodoc-process-docstring", link_names)
    app.connect("missing-reference", resolve)
    return {"parallel_read_safe": True}


@cache
def rooms_by_name() -> dict[str, list[str]]:
    """Return the rooms that offer each name."""
    found = defaultdict(list)
    for room in room_names(COURSE):
        for name in offered(COURSE, room):
            found[name].append(room)
    return found


def link_names(
    _app: Sphinx, _what: str, described: str, _object: object, _options: object, lines: list[str]
) -> None:
    """Make links of the names in a docstring.

    A word in lower case stays: it is more often a parameter than the function of that name.
    """

    def linked(found: re.Match[str]) -> str:
        name = found["name"]
        rooms = rooms_by_name().get(name, [])
        own = [room for room in rooms if described.startswith(f"{room}.")]
        if (name.islower() and "_" not in name) or described.endswith(f".{name}") or len(own or rooms) != 1:
            return found[0]
        return f":py:obj:`{found[0][1:-1]} <{(own or rooms)[0]}.{name}>`"

    # Python's own text for the field of a named tuple, which says nothing.
    lines[:] = [_NAME.sub(linked, line) for line in lines if not line.startswith("Alias for field number")]


def resolve(app: Sphinx, env: BuildEnvironment, node: Element, text: Element) -> reference | None:
    """Resolve a name by the room that offers it, whose private modules define it; else by the room's page."""
    target: str = node["reftarget"]
    room = max((one for one in room_names(COURSE) if f"{target}.".startswith(f"{one}.")), key=len, default="")
    documents: Any = env.get_domain("py").data["objects"]
    entry = documents.get(f"{room}.{target.rpartition('.')[2]}")
    page, anchor = (entry.docname, entry.node_id) if entry else (f"rooms/{room}", "")
    if page not in env.found_docs or node.get("refdoc") is None:
        return None
    return make_refnode(app.builder, node["refdoc"], page, anchor, text)
