"""Files in memory, as the nodes of a file system."""

from __future__ import annotations

import errno
import itertools
from dataclasses import dataclass, field

from course_utils.grading.sandbox.handouts import fuse


@dataclass
class _Node:
    path: str
    data: bytes | None = None  # None for a folder
    children: dict[str, int] = field(default_factory=dict)


class Tree:
    """The root folder, with one folder in it that holds the files of the present check."""

    def __init__(self) -> None:
        self._numbers = itertools.count(1)
        self._nodes: dict[int, _Node] = {}
        self._root = self._add(_Node(""))

    def replace(self, folder: str, files: dict[str, bytes]) -> None:
        """Show files by relative path in a new folder; nodes that are in use stay valid."""
        top = self._add(_Node(""))
        self._nodes[self._root].children = {folder: top}
        for path, data in files.items():
            *folders, name = path.split("/")
            parent = top
            for part in folders:
                children = self._nodes[parent].children
                if part not in children:
                    children[part] = self._add(_Node(self.path(parent, part)))
                parent = children[part]
            self._nodes[parent].children[name] = self._add(_Node(path, data))

    def child(self, node: int, name: str) -> int:
        """Return the node with a name in a folder.

        Raises:
            FileNotFoundError: There is none.
        """
        found = self._node(node).children.get(name)
        if found is None:
            raise FileNotFoundError(errno.ENOENT, name)
        return found

    def path(self, node: int, name: str = "") -> str:
        """Return the path of a node, or of a name in it, relative to the folder of its check."""
        return "/".join(part for part in (self._node(node).path, name) if part)

    def is_folder(self, node: int) -> bool:
        """Return whether a node is a folder."""
        return self._node(node).data is None

    def data(self, node: int) -> bytes:
        """Return the contents of a file."""
        return self._node(node).data or b""

    def attributes(self, node: int) -> bytes:
        """Return the attributes of a node."""
        return fuse.attributes(node, len(self.data(node)), self.is_folder(node))

    def entries(self, node: int) -> list[tuple[int, str, bool]]:
        """Return node, name and whether it is a folder, of all that a folder holds."""
        children = [(child, name, self.is_folder(child)) for name, child in self._node(node).children.items()]
        return [(node, ".", True), (node, "..", True), *children]

    def _add(self, node: _Node) -> int:
        number = next(self._numbers)
        self._nodes[number] = node
        return number

    def _node(self, number: int) -> _Node:
        if number not in self._nodes:
            raise OSError(errno.ESTALE, "no such node")
        return self._nodes[number]
