"""What runs in the sandbox beside the student's code: one IPython shell and the probes.

Nothing here is trusted by the grader: the student's code lives in the same process. It answers each step
that the grader sends with plain data.
"""

from __future__ import annotations

import base64
import importlib
import os
import sys
import types
from typing import Any

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from traitlets import Type
from traitlets.config import Config

from course_utils.checks.core import Check, crash_report, evidence
from course_utils.grading.sandbox.protocol import Channel

MAX_IMAGES, MAX_IMAGE_BYTES = 8, 2**20


class Pictures(DisplayPublisher):
    """Keeps the pictures that a cell shows, and prints the text of everything else."""

    def publish(self, data: dict[str, Any], metadata: dict | None = None, **_: object) -> None:
        """Takes what `display` publishes."""
        picture = data.get("image/png")
        if picture is None:
            sys.stdout.write(f"{data.get('text/plain', '')}\n")
            return
        raw = base64.b64decode(picture) if isinstance(picture, str) else bytes(picture)
        if len(self.pictures) < MAX_IMAGES and len(raw) <= MAX_IMAGE_BYTES:
            self.pictures.append(raw)

    @property
    def pictures(self) -> list[bytes]:
        """PNG files since the last `take`."""
        return self.__dict__.setdefault("_pictures", [])

    def take(self) -> list[bytes]:
        """Returns the pictures and forgets them."""
        taken = list(self.pictures)
        self.pictures.clear()
        return taken


class Shell(InteractiveShell):
    """IPython's shell without a terminal."""

    display_pub_class = Type(Pictures)
    # As in a notebook: what `!command` writes becomes this process's output.
    system = InteractiveShell.system_piped

    def enable_gui(self, gui: str | None = None) -> None:
        """Does nothing: `%matplotlib inline` asks for it, and there is no window."""


def make_shell() -> InteractiveShell:
    """Makes the shell that runs cells as a notebook does, magics included, without history or colours."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    module = types.ModuleType("__main__")
    return Shell.instance(config=config, user_module=module)


class Output:
    """The text that this process and its children write, held in memory and limited by the kernel."""

    def __init__(self) -> None:
        self.file = os.memfd_create("output")
        again = os.open(f"/proc/self/fd/{self.file}", os.O_RDWR | os.O_APPEND)
        os.dup2(again, 1)
        os.dup2(again, 2)
        os.close(again)

    def take(self, kilobytes: int) -> str:
        """Returns what was written since the last call, its middle left out where it is too long."""
        sys.stdout.flush()
        sys.stderr.flush()
        size, half = os.fstat(self.file).st_size, kilobytes * 512
        text = os.pread(self.file, min(size, 2 * half), 0)
        if size > 2 * half:
            text = text[:half] + b"\n... output left out ...\n" + os.pread(self.file, half, size - half)
        os.ftruncate(self.file, 0)
        # `!command` runs on a terminal of its own, which ends lines as terminals do.
        return text.decode("utf-8", "replace").replace("\r\n", "\n")


def answer_steps(channel: Channel, shell: InteractiveShell) -> None:
    """Does what the grader sends, step by step, until it hangs up."""
    output = Output()
    while True:
        step = channel.receive()
        reply = _cell(shell, step) if step["kind"] == "cell" else _check(shell, step)
        pictures = shell.display_pub.take()
        channel.send({**reply, "text": output.take(step["output_kb"]), "pictures": pictures})


def _cell(shell: InteractiveShell, step: dict[str, Any]) -> dict[str, Any]:
    result = shell.run_cell(step["source"], store_history=False)
    error = result.error_before_exec or result.error_in_exec
    return {"error": "" if error is None else f"{type(error).__name__}: {str(error)[:500]}"}


def _check(shell: InteractiveShell, step: dict[str, Any]) -> dict[str, Any]:
    try:
        check: Check = getattr(importlib.import_module(step["module"]), step["check"])
        answers = eval(f"({step['answers']})", shell.user_ns)
        return {"evidence": check.run_probe(step["inputs"], *answers)}
    except BaseException as error:  # also SystemExit: an answer that leaves is a crash of the answer
        return {"evidence": evidence.encode({"crash": crash_report(error)})}
