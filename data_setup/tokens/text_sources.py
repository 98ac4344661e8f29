"""The packages whose docstrings are the documents of the set of tokens: see CREDITS.md."""

import sysconfig
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from data_setup.format.errors import SetupError

# Folders that hold no documentation, or packages of others.
SKIPPED = {
    "dist-packages",
    "externals",
    "idlelib",
    "lib2to3",
    "site-packages",
    "test",
    "testing",
    "tests",
}


class TextSource(NamedTuple):
    """A package.

    Args:
        name: The name of its distribution, and of the source.
        package: The name to import it by; empty for Python's standard library.
        licence: Its licence.
        link: Where the licence is.
        private: Whether folders whose names start with an underscore count.
    """

    name: str
    package: str
    licence: str
    link: str
    private: bool = True

    def files(self) -> list[Path]:
        """Return its source files, sorted by their paths.

        Raises:
            SetupError: The package is not installed.
        """
        top = self._folder()
        found = {path.relative_to(top).as_posix(): path for path in top.rglob("*.py")}
        return [path for name, path in sorted(found.items()) if self._counts(name.split("/")[:-1])]

    def _folder(self) -> Path:
        if not self.package:
            return Path(sysconfig.get_path("stdlib"))
        spec = find_spec(self.package)
        if spec is None or spec.origin is None:
            raise SetupError(
                f"{self.name} is not installed: `make lab` installs the versions in requirements.txt"
            )
        return Path(spec.origin).parent

    def _counts(self, folders: list[str]) -> bool:
        hidden = any(folder.startswith("_") for folder in folders)
        return not SKIPPED & {*folders} and (self.private or not hidden)


SOURCES = (
    TextSource("python", "", "PSF-2.0", "https://docs.python.org/3/license.html"),
    TextSource("numpy", "numpy", "BSD-3-Clause", "https://numpy.org/doc/stable/license.html"),
    TextSource("scipy", "scipy", "BSD-3-Clause", "https://github.com/scipy/scipy/blob/main/LICENSE.txt"),
    TextSource(
        "scikit-learn",
        "sklearn",
        "BSD-3-Clause",
        "https://github.com/scikit-learn/scikit-learn/blob/main/COPYING",
    ),
    # Half of it is internal, and as large as all others together.
    TextSource(
        "torch",
        "torch",
        "BSD-3-Clause",
        "https://github.com/pytorch/pytorch/blob/main/LICENSE",
        private=False,
    ),
)
