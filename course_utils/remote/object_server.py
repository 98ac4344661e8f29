"""A server of byte ranges over HTTP, with the delay of an object store and a record of its requests."""

import json
import subprocess
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from course_utils.remote.faults import Fault

PATIENCE = 10  # seconds for the end of the process


@dataclass(frozen=True)
class Requests:
    """What a server was asked for.

    Args:
        count: Number of requests, also of those that were answered with an error.
        bytes: Bytes of the bodies that it sent.
        most_in_flight: Most requests that waited for their answers at one time.
    """

    count: int
    bytes: int
    most_in_flight: int


class ObjectServer:
    """Serves the files of a folder to this machine until its `with` block ends.

    It speaks HTTP/1.1 on 127.0.0.1, keeps connections alive and answers `Range: bytes=a-b` with status 206.
    It waits before each answer: on one machine, a request would otherwise cost nothing. It is a process of
    its own, so that it does not compete with its clients for the interpreter. A server such as nginx would
    neither wait nor count the requests in flight; the tests let the same readers read from one.

    Args:
        folder: The folder.
        delay_ms: Milliseconds before an answer begins. Object stores take some 10 to 100.
        faults: What goes wrong on purpose.

    Raises:
        NotADirectoryError: There is no such folder.
        RuntimeError: The process did not start, or has died.
    """

    def __init__(self, folder: str | Path, delay_ms: float = 30.0, faults: Sequence[Fault] = ()) -> None:
        self.folder, self.delay_ms, self.faults = Path(folder).resolve(), delay_ms, tuple(faults)
        if not self.folder.is_dir():
            raise NotADirectoryError(f"{folder} is no folder: give the one whose files are to be served")
        self._lock = threading.Lock()

    def __enter__(self) -> Self:
        settings = {
            "folder": str(self.folder),
            "delay": self.delay_ms / 1000,
            "faults": [asdict(fault) for fault in self.faults],
        }
        # A session of its own: what interrupts a notebook's cell does not end the server.
        self._process = subprocess.Popen(
            [sys.executable, "-m", "course_utils.remote.serve", json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=Path(__file__).parents[2],
            start_new_session=True,
        )
        try:
            self._port = int(self._answer()["port"])
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._end()

    def url(self, name: str = "") -> str:
        """Return the address of a file in the folder, or that of the folder."""
        return f"http://127.0.0.1:{self._port}/{quote(name)}"

    def record(self) -> Requests:
        """Return what was asked for since the start or the last `reset`."""
        return self._command("record")

    def reset(self) -> Requests:
        """Begin a new record; return the one that ends. Faults count from here, too."""
        return self._command("reset")

    def _command(self, name: str) -> Requests:
        assert self._process.stdin is not None
        with self._lock:
            try:
                self._process.stdin.write(f"{name}\n")
                self._process.stdin.flush()
                return Requests(*self._answer()["record"])
            except (BrokenPipeError, ValueError) as error:  # ValueError: its pipe is closed
                raise RuntimeError("the server has ended: ask it inside its `with` block") from error

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the process of the server has died; what it wrote tells why")
        answer: dict[str, Any] = json.loads(line)
        return answer

    def _end(self) -> None:
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe:
                with suppress(BrokenPipeError):  # a command that a dead process has not read
                    pipe.close()
