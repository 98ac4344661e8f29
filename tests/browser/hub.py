"""A real JupyterHub for tests: system users, and a course deployed with the teacher's command."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from grading.site import deploy
from grading.site.deploy import Site
from grading.site.environment import READY
from tests.lessons.lesson import COURSE

TEACHER, STUDENTS = "hub-teacher", ("hub-ann", "hub-bob")
PASSWORD = "test password"
IMAGES = "100"  # the deployment verifies each of them
PYTHONS = ("/usr/bin/python3.14", "/usr/bin/python3.13", "/usr/bin/python3.12", "/usr/bin/python3.11")

CONFIG = """
c.JupyterHub.authenticator_class = "dummy"
c.DummyAuthenticator.password = {password!r}
c.JupyterHub.bind_url = "http://127.0.0.1:{ports[0]}"
c.JupyterHub.hub_port = {ports[1]}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{ports[2]}"
c.ConfigurableHTTPProxy.command = [{proxy!r}]
c.JupyterHub.db_url = "sqlite:///{state}/hub.sqlite"
c.JupyterHub.cookie_secret_file = "{state}/cookie_secret"
c.JupyterHub.cleanup_servers = True
"""


@dataclass(frozen=True)
class Hub:
    """A running Hub and the course on it."""

    address: str
    site: Site

    def home(self, user: str) -> Path:
        return Path(pwd.getpwnam(user).pw_dir)


def missing() -> str:
    """Return why this machine cannot run a Hub with system users; empty if it can."""
    if os.geteuid() != 0:
        return "not root: system users cannot be created"
    needed = [name for name in ("useradd", "npm", "node", "runuser") if not shutil.which(name)]
    return f"no {', '.join(needed)}" if needed else "" if public_python() else "no Python outside of /root"


def public_python() -> Path | None:
    found = [Path(python) for python in PYTHONS if Path(python).exists()]
    return found[0] if found else None


def as_user(user: str, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command as a system user, in their home and with their environment."""
    words = ["runuser", "--login", user, "--command", " ".join(map(str, command))]
    return subprocess.run(words, capture_output=True, text=True)


@contextmanager
def running_hub() -> Iterator[Hub]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hub-", dir="/var/tmp")))
        folder.chmod(0o755)
        for user in (TEACHER, *STUDENTS):
            stack.enter_context(system_user(user))
        site = set_up(folder)
        reference = f"load_subconfig({str(site.root / 'jupyterhub_config.py')!r})"
        address = stack.enter_context(jupyterhub(folder, site.environment, reference))
        yield Hub(address, site)


@contextmanager
def system_user(name: str) -> Iterator[None]:
    remove_user(name)
    subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", name], check=True)
    Path(pwd.getpwnam(name).pw_dir).chmod(0o700)
    try:
        yield
    finally:
        remove_user(name)


def remove_user(name: str) -> None:
    subprocess.run(["pkill", "-KILL", "--uid", name], check=False, capture_output=True)
    subprocess.run(["userdel", "--force", "--remove", name], check=False, capture_output=True)


def set_up(folder: Path, teacher: str = TEACHER) -> Site:
    """Deploy the course of this working tree with the teacher's command and account."""
    site = prepare(folder, teacher)
    for _ in ("deploys", "changes nothing"):
        done = as_user(
            teacher, f"cd {site.source} && {site.environment}/bin/python -m grading.site",
            site.root, "--python", site.python, "--teacher", teacher,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("no changes"), done.stdout
    return site


def prepare(folder: Path, teacher: str) -> Site:
    """Clone the course for a teacher, and make what takes long of their site: data and environment."""
    site = Site(folder / "teacher", clone(folder / "clone"), public_python())
    make_data = [
        sys.executable,
        "-m",
        "data_setup",
        "photos",
        "--count",
        IMAGES,
        "--out",
        site.root / "JHS_data",
    ]
    subprocess.run(make_data, cwd=COURSE, check=True, stdout=subprocess.DEVNULL)
    install_environment(site)
    shutil.chown(site.root, teacher)
    # Not all of the environment: its packages are links into the cache.
    theirs = (site.source, site.root / "JHS_data", site.environment / READY)
    subprocess.run(["chown", "-R", teacher, *theirs], check=True)
    return site


def install_environment(site: Site) -> None:
    """Install the environment as root, whose package cache is filled; the command then finds it complete.

    uv links packages from its cache. Their bytecode, 20 s of work, is linked from the tests' environment.
    """
    list(deploy.install_environment(site, compile_bytecode=False))
    link_bytecode(Path(sysconfig.get_path("purelib")), site.environment)


def link_bytecode(packages: Path, environment: Path) -> None:
    """Hard-link the bytecode of this environment into another one of the same Python version."""
    [target] = environment.glob("lib/python3*/site-packages")
    for cached in packages.rglob(f"*.{sys.implementation.cache_tag}.pyc"):
        place = target / cached.relative_to(packages)
        if place.parent.parent.is_dir() and not place.exists():
            place.parent.mkdir(exist_ok=True)
            place.hardlink_to(cached)


def clone(folder: Path) -> Path:
    """Clone this repository with its uncommitted changes."""
    git("clone", "--quiet", COURSE, folder)
    changed = git("-C", COURSE, "ls-files", "--modified", "--others", "--exclude-standard").splitlines()
    for name in filter(lambda name: (COURSE / name).is_file(), changed):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(COURSE / name, folder / name)
    git("-C", folder, "add", "--all")
    identity = ("-c", "user.name=Test", "-c", "user.email=test@example.org")
    git("-C", folder, *identity, "commit", "--quiet", "--allow-empty", "--message", "The working tree")
    return folder


def repository_of(user: str, folder: Path) -> Path:
    """Return a repository that a user may pull from."""
    repository = clone(folder / f"{user}.git")
    subprocess.run(["chown", "-R", user, repository], check=True)
    return repository


def git(*words: str | Path) -> str:
    return subprocess.run(["git", *map(str, words)], check=True, capture_output=True, text=True).stdout


@contextmanager
def jupyterhub(folder: Path, environment: Path, settings: str) -> Iterator[str]:
    """Run the Hub of an environment with some lines of configuration on the loopback interface.

    Yields:
        Its address.
    """
    proxy = folder / "proxy"
    subprocess.run(["npm", "install", "--silent", "--prefix", proxy, "configurable-http-proxy"], check=True)
    ports, state = unused_ports(3), folder / "state"
    state.mkdir(mode=0o700)
    config = state / "jupyterhub_config.py"
    command = str(proxy / "node_modules" / ".bin" / "configurable-http-proxy")
    local = CONFIG.format(password=PASSWORD, ports=ports, proxy=command, state=state)
    config.write_text(settings + local)
    with (state / "log").open("w") as log:
        command = [environment / "bin" / "jupyterhub", "--config", config]
        hub = subprocess.Popen(command, cwd=state, stdout=log, stderr=log, start_new_session=True)
        try:
            address = f"http://127.0.0.1:{ports[0]}"
            wait_for(f"{address}/hub/login", hub, state / "log")
            yield address
        finally:
            # A Hub that is asked to end waits for its proxy and its users' servers, which takes a minute.
            os.killpg(hub.pid, signal.SIGKILL)
            hub.wait()
            subprocess.run(["pkill", "-KILL", "--full", proxy], check=False)


def unused_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def wait_for(address: str, process: subprocess.Popen, log: Path) -> None:
    for _ in range(120):
        try:
            urllib.request.urlopen(address, timeout=5).close()
            return
        except OSError:
            assert process.poll() is None, log.read_text()
            time.sleep(0.5)
    raise AssertionError(log.read_text())
