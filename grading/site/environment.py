"""The environment of a deployed course: a copy of the course in it, never a link to a teacher's folder."""

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from grading.course.installed_copy import differing_files, installed_course
from grading.site.commands import DeployError, run
from grading.site.course_folder import revision
from grading.site.deployment import Site

READY = ".complete"  # its first line names the folder that the environment belongs to: .make/owned.sh
OLDEST, NEWEST, OWN = (3, 11), (3, 14), "3.12"
ANOTHER = "name another Python that all accounts can run, or let the site have its own: --python own"
# Prints the version, the prefix, and the libraries that modules of the standard library load.
PROBE = """
import bz2, ctypes, lzma, sqlite3, ssl, sys
print(*sys.version_info[:2])
print(sys.base_prefix)
print(*{line.split(None, 5)[5].strip() for line in open("/proc/self/maps") if ".so" in line}, sep=chr(10))
"""
SYSTEM = ("/usr", "/lib", "/lib64")


def require_usable_python(site: Site) -> Iterator[str]:
    """Refuse a Python that the environment cannot have, before anything is written.

    Yields:
        Nothing: it changes nothing.

    Raises:
        DeployError: It is not there, is too old or too new, stands in a private folder, or needs a module.
    """
    yield from ()
    if (site.environment / READY).is_file():
        return
    python = site.python
    if python == site.own_python:
        if site.packages is None:
            return  # uv fetches it
        python = site.packages / "python" / "bin" / "python3"
    if not python.exists():
        raise DeployError(f"there is no {python}; {ANOTHER}")
    if python == site.python:
        _refuse_private(python)
    try:
        # As a server or a job starts it: without the modules and the variables of this shell.
        version, *paths = run("env", "-i", python, "-c", PROBE).splitlines()
    except DeployError as error:
        reason = str(error).splitlines()[-1]
        raise DeployError(
            f"{python} does not run without the modules of this shell ({reason}); {ANOTHER}"
        ) from error
    found = tuple(map(int, version.split()))
    if not OLDEST <= found <= NEWEST:
        raise DeployError(
            f"the course needs Python {_dotted(OLDEST)} to {_dotted(NEWEST)}, and {python} is "
            f"{_dotted(found)}; {ANOTHER}"
        )
    _refuse_scattered(python, *map(Path, paths))


def _refuse_scattered(python: Path, prefix: Path, *libraries: Path) -> None:
    """Refuse a Python whose libraries the sandbox of grading would not show."""
    shown = (*SYSTEM, prefix, prefix.resolve())
    if hidden := sorted(
        str(one) for one in libraries if not any(one.is_relative_to(place) for place in shown)
    ):
        raise DeployError(
            f"{python} needs libraries outside of {prefix}, which no sandbox would show it when it grades: "
            f"{', '.join(hidden[:3])}; {ANOTHER}"
        )


def install_own_python(site: Site) -> Iterator[str]:
    """Give the site a Python that needs nothing of the system, where it is to have one: `--python own`."""
    if site.python != site.own_python or site.python.exists():
        return
    fetched = site.root / ".python"
    shutil.rmtree(fetched, ignore_errors=True)
    if site.packages:
        python = Path(shutil.copytree(site.packages / "python", fetched / "python", symlinks=True))
    else:
        run(_uv(site), "python", "install", "--quiet", "--no-bin", "--install-dir", fetched, OWN)
        [python] = fetched.glob(f"cpython-{OWN}.*")
    run("chmod", "-R", "go+rX", python)
    python.rename(site.root / "python")
    shutil.rmtree(fetched)
    yield f"installed a Python of the site's own: {site.python}"


def _dotted(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def install_environment(site: Site, compile_bytecode: bool = True) -> Iterator[str]:
    """Install the environment; with its bytecode, because students cannot write there.

    Where only the course has changed, the packages stay, and kernels that run keep theirs.
    """
    stamp = site.environment / READY
    requirements = site.source / "requirements.txt"
    lock = requirements.read_text()
    wanted = f"{site.root}\n{revision(site.source)}\n{lock}"
    installed = stamp.read_text() if stamp.is_file() else ""
    if installed == wanted and not _difference(site):
        stamp.touch()  # newer than the course folder, from which `make` must not install
        return
    uv = _uv(site)
    install: list[str | Path] = [uv, "pip", "install", "--quiet", "--python", site.environment]
    install += ["--compile-bytecode"] if compile_bytecode else []
    install += ["--offline", "--no-index", "--find-links", site.packages] if site.packages else []
    packages_stay = installed.partition("\n")[2].partition("\n")[2] == lock
    # What an earlier build left there would be installed, too.
    shutil.rmtree(site.source / "build" / "lib", ignore_errors=True)
    if packages_stay:
        run(*install, "--no-deps", "--reinstall-package", "feeding-the-gpu", site.source)
    else:
        _refuse_private(site.python)
        run(uv, "venv", "--quiet", "--clear", "--python", site.python, site.environment)
        run(*install, "--requirements", requirements, site.source)
    if difference := _difference(site):
        raise DeployError(f"the environment {site.environment} is not what was installed: {difference}")
    run("chmod", "-R", "go+rX", site.environment)
    stamp.write_text(wanted)
    yield f"{'updated the course in' if packages_stay else 'installed'} the environment {site.environment}"


def _uv(site: Site) -> str:
    if uv := shutil.which("uv") or shutil.which("uv", path=site.source / ".tools" / "bin"):
        return uv
    raise DeployError(f"uv is not installed; this installs it: make -C {site.source} data")


def _difference(site: Site) -> str:
    """Return how the course in the environment differs from a copy of the source; empty if it does not."""
    try:
        installed = installed_course(site.environment / "bin" / "python")
    except (OSError, subprocess.SubprocessError):
        installed = None
    if installed is None:
        return "it cannot import the course"
    if not installed.is_relative_to(site.environment.resolve()):
        return f"it imports the course from {installed}, which students cannot read"
    different = differing_files(site.source / "course_utils", installed)
    return f"{installed / different[0]} differs from its source" if different else ""


def _refuse_private(python: Path) -> None:
    for path in (python, *python.resolve().parents, python.resolve()):
        if not path.stat().st_mode & 0o001:
            raise DeployError(
                f"{python} cannot be run by other accounts (see the mode of {path}); "
                "choose a Python outside private folders: --python /usr/bin/python3"
            )
