"""Somebody who reads the documents: an account with an empty home folder, and a clone of the course in it."""

import os
import subprocess
import sysconfig
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.browser.hub import as_user, clone, system_user
from tests.documents.environment import install, linking_uv, python_of_all

ACCOUNT = "docs-reader"
PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclass(frozen=True)
class Reader:
    """An account; without a name it is this one, with another home folder and no variables of its own."""

    home: Path
    name: str = ""

    @property
    def course(self) -> Path:
        return self.home / "feeding-the-gpu"

    def run(self, script: str) -> subprocess.CompletedProcess[str]:
        """Run a script of bash that begins in the clone."""
        file = self.home / "typed.sh"
        file.write_text(f"set -e\ncd {self.course}\n{script}")
        file.chmod(0o644)
        if self.name:
            return as_user(self.name, f"bash {file} 2>&1 </dev/null")
        environment = {"HOME": str(self.home), "PATH": PATH}
        return subprocess.run(
            ["bash", file], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip


@contextmanager
def reader() -> Iterator[Reader]:
    """Make the account where that is allowed, and the clone with an installed environment."""
    with ExitStack() as stack:
        name = ACCOUNT if os.geteuid() == 0 and all(map(everybody_enters, _needed())) else ""
        if name:
            stack.enter_context(system_user(name))
            home = Path(f"~{name}").expanduser()
        else:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory(dir="/var/tmp")))
        found = Reader(home, name)
        tools = linking_uv(Path(stack.enter_context(tempfile.TemporaryDirectory())), python_of_all())
        clone(found.course)
        install(found.course, tools)
        if name:
            # The packages are hard links to those of this account.
            own = ["find", home, "-path", found.course / ".venv", "-prune", "-o"]
            subprocess.run([*own, "-exec", "chown", "-h", name, "{}", "+"], check=True)
        yield found


def _needed() -> tuple[Path, ...]:
    """What the account must be able to read: the packages of the tests' environment, and a Python of it."""
    return Path(sysconfig.get_path("purelib")), python_of_all()


def everybody_enters(path: Path) -> bool:
    return all(part.stat().st_mode & 0o001 for part in (path.resolve(), *path.resolve().parents))
