"""Where the names that a lesson takes from `course_utils` are defined, read from what the lesson imports."""

import re
from pathlib import Path
from typing import NamedTuple

import course_utils
from grading.links.linker import Entry

PACKAGE = Path(course_utils.__path__[0])
NOT_TO_READ = f"{PACKAGE.name}.checks"
_IMPORT = re.compile(r"^from (course_utils[\w.]*) import (\([^)]*\)|[^\n#]+)", re.MULTILINE)
# A class or function of the lesson's own, or a parameter of the same name.
_OWN = re.compile(r"^(?:class|def) (\w+)|[(,]\s*(\w+)=(?!=)", re.MULTILINE)
_OFFERED = re.compile(r"^from (?P<module>\.[\w.]*) import (?P<inside>\w+) as (?P<name>\w+)$", re.MULTILINE)


class Place(NamedTuple):
    """Where something of the package is.

    Attributes:
        file: Its source, relative to the course's folder, such as `course_utils/data/datasets.py`.
        dotted: The name under which others import it, such as `course_utils.data.JpegDataset`.
    """

    file: str
    dotted: str

    @property
    def room(self) -> str:
        """The room, or the module outside of all rooms, that offers it."""
        return self.dotted if _is_room(self.dotted) else self.dotted.rpartition(".")[0]

    @property
    def anchor(self) -> str:
        """Its anchor on the page of its room in the book; empty for a constant, or a module inside a room."""
        if self.dotted == self.room:
            return f"module-{self.dotted}"
        name = self.dotted.rpartition(".")[2]
        return "" if name.isupper() or Path(self.file).stem == name else self.dotted


class PackageNames:
    """The names of the package that one lesson uses.

    A text may name what the lesson imports, a class beside it in the same room, or a file, module or room.

    Args:
        code: The sources of the lesson's code cells.
    """

    def __init__(self, code: str) -> None:
        imported = [
            (room, names) for room, names in _IMPORT.findall(code) if not room.startswith(NOT_TO_READ)
        ]
        rooms = dict.fromkeys(room for room, _ in imported)
        beside = {name: room for room in rooms for name in _offered(room) if name[0].isupper()}
        used = {name: room for room, names in imported for name in re.findall(r"\b(\w+)\b(?! as)", names)}
        own = {name for names in _OWN.findall(code) for name in names}
        self._rooms = {name: room for name, room in (beside | used).items() if name not in own}

    def place(self, span: str) -> Place | None:
        """Return the place of what a text writes as code, such as `JpegDataset` or `simulate??`."""
        span = span.removesuffix("??").removesuffix("()")
        if re.fullmatch(rf"{PACKAGE.name}[/.][\w/.]+", span):
            return _place(span.removesuffix(".py").removesuffix("/").replace("/", "."))
        name = span.split(".")[0]
        return _place(f"{self._rooms[name]}.{name}") if name in self._rooms else None

    def entry(self, span: str) -> Entry | None:
        """Return what a text's code leads to, relative to the lesson's folder."""
        place = self.place(span)
        return Entry(" ".join(place), f"../../{place.file}") if place else None


def _place(dotted: str) -> Place | None:
    """Return the place of a room, a module, or a name that a room offers."""
    if dotted.startswith(NOT_TO_READ):
        return None
    path = _path(dotted)
    room, _, name = dotted.rpartition(".")
    if (path / "__init__.pyi").is_file():
        return Place(_file(path / "__init__.pyi"), dotted)
    if path.with_suffix(".py").is_file():
        private = room != PACKAGE.name and name not in _offered(room)
        return Place(_file(path.with_suffix(".py")), room if private else dotted)
    if _path(room).with_suffix(".py").is_file():
        return Place(_file(_path(room).with_suffix(".py")), dotted)
    module = _offered(room).get(name, "")
    if (_path(f"{room}{module}") / "__init__.pyi").is_file() and module:
        inner = _place(f"{room}{module}.{name}")
        return Place(inner.file, dotted) if inner else None
    path = _path(f"{room}{module}").with_suffix(".py")
    return Place(_file(path), dotted) if module and path.is_file() else None


def _is_room(dotted: str) -> bool:
    path = _path(dotted)
    return (path / "__init__.pyi").is_file() or (path.parent == PACKAGE and path.with_suffix(".py").is_file())


def _offered(room: str) -> dict[str, str]:
    """Return the names that a room offers, with the modules, such as `.datasets`, that define them."""
    stub = _path(room) / "__init__.pyi"
    found = _OFFERED.finditer(stub.read_text() if stub.is_file() else "")
    return {one["name"]: f".{one['inside']}" if one["module"] == "." else one["module"] for one in found}


def _path(dotted: str) -> Path:
    return PACKAGE.parent.joinpath(*dotted.split("."))


def _file(path: Path) -> str:
    return path.relative_to(PACKAGE.parent).as_posix()
