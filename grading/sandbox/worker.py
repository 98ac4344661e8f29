"""Runs cells and probes in the student's process, with one IPython shell.

It replies to each step with plain data, which the grader does not trust: student code runs in this process.
"""

from __future__ import annotations

import base64
import fcntl
import importlib
import os
import sys
import tempfile
import traceback
import types
from multiprocessing import current_process
from pathlib import Path
from typing import Any, NoReturn

from IPython.core.displaypub import DisplayPublisher
from IPython.core.interactiveshell import ExecutionResult, InteractiveShell
from traitlets import Bytes, List, Type
from traitlets.config import Config

from course_utils.checks.core import Check, crash_report, evidence
from course_utils.checks.world.handle import Handle
from course_utils.validation.definitions import extract_definitions
from grading.sandbox.left_running import stop_threads, stop_timers, stop_tracing
from grading.sandbox.protocol import (
    MAX_PICTURE_BYTES,
    MAX_PICTURES,
    Channel,
    StepReply,
    StepRequest,
)


class Pictures(DisplayPublisher):
    """Keeps the pictures that a cell displays, and prints the text of everything else."""

    pictures: List[bytes] = List(Bytes())

    def publish(self, data: Any, metadata: Any = None, *_: Any, **__: Any) -> None:  # noqa: ANN401 - IPython's own
        """Handle what `display` publishes."""
        picture = data.get("image/png")
        if picture is None:
            sys.stdout.write(f"{data.get('text/plain', '')}\n")
            return
        raw = base64.b64decode(picture) if isinstance(picture, str) else bytes(picture)
        if len(self.pictures) < MAX_PICTURES and len(raw) <= MAX_PICTURE_BYTES:
            self.pictures.append(raw)

    def take(self) -> list[bytes]:
        """Return the PNG files since the last call."""
        taken, self.pictures = self.pictures, []
        return taken


class Shell(InteractiveShell):
    """IPython's shell without a terminal."""

    display_pub_class = Type(Pictures)
    last_error: BaseException | None = None
    # As in a notebook: the output of `!command` becomes this process's output.
    system = InteractiveShell.system_piped

    def run_cell(self, raw_cell: str, *args: Any, **options: Any) -> ExecutionResult:  # noqa: ANN401
        """Run a cell as IPython does; what stops the code below `%%capture` stops the cell."""
        self.last_error = None
        result: ExecutionResult = super().run_cell(raw_cell, *args, **options)  # type: ignore[no-untyped-call]
        if result.success and raw_cell.lstrip().startswith("%%capture"):
            result.error_in_exec = self.last_error
        self.last_error = result.error_before_exec or result.error_in_exec
        return result

    def enable_gui(self, gui: str | None = None) -> None:
        """Do nothing: `%matplotlib inline` calls this, and there is no window."""


def make_shell() -> InteractiveShell:
    """Make a shell that runs cells as a notebook does, magics included, without history or colours."""
    config = Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    module = types.ModuleType("__main__")
    shell: InteractiveShell = Shell.instance(config=config, user_module=module)
    return shell


class Output:
    """The output of this process and its children, in a file whose size the kernel limits."""

    def __init__(self) -> None:
        self.file = _nameless_file()
        fcntl.fcntl(self.file, fcntl.F_SETFL, os.O_APPEND)
        os.dup2(self.file, 1)
        os.dup2(self.file, 2)

    def take(self, kilobytes: int) -> str:
        """Return the text since the last call, without its middle where it is too long."""
        for number, name in enumerate(("stdout", "stderr"), 1):
            try:
                getattr(sys, name).flush()
            except Exception:  # a cell has closed or replaced it
                os.dup2(self.file, number)
                setattr(sys, name, os.fdopen(number, "w", errors="replace", closefd=False))
        size, half = os.fstat(self.file).st_size, kilobytes * 512
        text = os.pread(self.file, min(size, 2 * half), 0)
        if size > 2 * half:
            text = text[:half] + b"\n... output left out ...\n" + os.pread(self.file, half, size - half)
        os.ftruncate(self.file, 0)
        # `!command` runs on a pseudo-terminal, which ends lines with "\\r\\n".
        return text.decode("utf-8", "replace").replace("\r\n", "\n")


def _nameless_file() -> int:
    """Open a new file for reading and writing, in memory where the system can."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("output")
    descriptor, name = tempfile.mkstemp()
    Path(name).unlink()
    return descriptor


def serve_steps(channel: Channel, shell: InteractiveShell) -> NoReturn:
    """Run each step that the grader sends.

    Raises:
        ClosedError: The grader has closed the channel.
    """
    # Where workers make their sockets: a cell may set `tempfile.tempdir` to a folder of another machine.
    vars(current_process())["_config"]["tempdir"] = tempfile.gettempdir()
    output, display = Output(), shell.display_pub
    assert isinstance(display, Pictures)
    while True:
        step = channel.receive(StepRequest)
        reply = _run_check(shell, step) if step.check else _run_cell(shell, step)
        stop_timers()
        reply.pictures, reply.text = display.take(), output.take(step.output_kb)
        channel.send(reply)


def _run_cell(shell: InteractiveShell, step: StepRequest) -> StepReply:
    """Run a cell; where an error stops it, as `input()` does here, also run what it defines below."""
    first = error = _run_source(shell, step.source)
    source = step.source
    while error is not None and (source := extract_definitions(source, _stopped_at(shell, error))):
        error = _run_source(shell, source)
    return StepReply(error="" if first is None else _described(first))


def _described(error: BaseException) -> str:
    if isinstance(error, SyntaxError):  # what is valid depends on the version
        version, line = ".".join(map(str, sys.version_info[:2])), (error.text or "").strip()
        return f"{type(error).__name__} in Python {version}: {error.msg} (line {error.lineno}: {line[:200]})"
    return f"{type(error).__name__}: {str(error)[:500]}"


def _run_source(shell: InteractiveShell, source: str) -> BaseException | None:
    result = shell.run_cell(source, store_history=False)
    error: BaseException | None = result.error_before_exec or result.error_in_exec
    return error


def _stopped_at(shell: InteractiveShell, error: BaseException) -> int:
    """Return the line of the cell that an error has stopped; beyond the last one where none ran."""
    lines = (
        line
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_globals is shell.user_ns and frame.f_code.co_name == "<module>"
    )
    return next(lines, sys.maxsize)


def _run_check(shell: InteractiveShell, step: StepRequest) -> StepReply:
    try:
        stop_tracing()
        stop_threads(shell.user_ns)
        check: Check = getattr(importlib.import_module(step.module), step.check)
        try:
            answers = eval(f"({step.source})", shell.user_ns)
        except NameError as error:
            return StepReply(evidence=evidence.encode({"missing": str(error.name)}))
        handle = Handle(step.world) if step.world else None
        return StepReply(evidence=check.run_probe(step.inputs, *answers, handle=handle))
    except BaseException as error:  # SystemExit, too, is a crash of the answer
        return StepReply(evidence=evidence.encode({"crash": crash_report(error)}))
