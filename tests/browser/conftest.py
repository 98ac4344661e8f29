import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page

from tests.lessons.lesson import COURSE


@pytest.fixture(scope="session")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course folder like a clone's, with solved and released lessons."""
    folder = tmp_path_factory.mktemp("course")
    shutil.copy(COURSE / "nbgrader_config.py", folder)
    for kind in ("notebooks", "solutions"):
        shutil.copytree(COURSE / kind, folder / kind)
    return folder


@pytest.fixture(scope="session")
def lab(course: Path, lesson_data: Path) -> Iterator[str]:
    """The address printed by JupyterLab as `make lab` starts it."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    options = ["BROWSER=no", f"PORT={port}", f"VENV={sys.prefix}"]
    server = subprocess.Popen(
        ["make", "-f", str(COURSE / "Makefile"), "serve", *options],
        cwd=course,
        env=os.environ | {"COURSE_DATA": str(lesson_data)},
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield address(server)
    finally:
        os.killpg(server.pid, signal.SIGTERM)
        server.communicate()


def address(server: subprocess.Popen[str]) -> str:
    seen = []
    for line in server.stderr:
        seen.append(line)
        if found := re.search(r"http://127\S+", line):
            return found.group()
    raise AssertionError("JupyterLab printed no address:\n" + "".join(seen))


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    page = browser.new_page(viewport={"width": 1400, "height": 1000})
    page.set_default_timeout(60_000)
    yield page
    page.close()
