"""A JupyterHub that others run: its environment has nothing of the course, its files are root's."""

import shutil
import subprocess
from pathlib import Path

from tests.browser.hub import public_python
from tests.lessons.lesson import COURSE

TOKEN = "0123456789abcdef0123456789abcdef"  # of the service by which the test acts for the users
SETTINGS = """
c.Authenticator.allow_all = True
c.Spawner.cmd = [{singleuser!r}]
c.Spawner.default_url = "/lab"
c.Spawner.environment = {{"PYTHONPATH": {modules!r}}}
c.JupyterHub.services = [{{"name": "test", "api_token": {token!r}}}]
scopes = ["admin:users", "admin:servers", "access:servers"]
c.JupyterHub.load_roles = [{{"name": "test", "services": ["test"], "scopes": scopes}}]
"""


def settings(environment: Path) -> str:
    """Return the configuration of a Hub that starts servers of its own environment as system users."""
    command, modules = environment / "bin" / "jupyterhub-singleuser", environment / "modules"
    return SETTINGS.format(singleuser=str(command), token=TOKEN, modules=str(modules))


def install_hub(environment: Path) -> Path:
    """Install JupyterHub and JupyterLab, and nothing else, in the versions that the course has.

    As on clusters with environment modules, PYTHONPATH leads to packages of another Python.
    """
    uv = shutil.which("uv") or COURSE / ".tools" / "bin" / "uv"
    subprocess.run([uv, "venv", "--quiet", "--python", public_python(), environment], check=True)
    lock = COURSE / "requirements.txt"
    install = [uv, "pip", "install", "--quiet", "--python", environment, "--constraints", lock]
    subprocess.run([*install, "jupyterhub", "jupyterlab", "ipykernel"], check=True)
    (environment / "modules").mkdir()
    for name in ("torch", "nbgrader"):
        (environment / "modules" / f"{name}.py").write_text("raise ImportError('of another Python')\n")
    subprocess.run(["chmod", "-R", "go+rX", environment], check=True)
    return environment
