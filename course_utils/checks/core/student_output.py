"""What a student's code prints while a check runs it many times: each line once."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, TextIO

MAX_LINES = 100


class _EachLineOnce:
    """Passes each line on when it comes for the first time, and no more than `MAX_LINES`.

    Args:
        stream: Where the lines go.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream, self._seen, self._part = stream, set[str](), ""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else a stream has
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Take text; what is no whole line yet waits."""
        *lines, self._part = (self._part + text).split("\n")
        for line in lines:
            self._pass_on(f"{line}\n")
        return len(text)

    def finish(self) -> None:
        """Pass on what follows the last line."""
        if self._part:
            self._pass_on(self._part)

    def _pass_on(self, line: str) -> None:
        if line not in self._seen and len(self._seen) < MAX_LINES:
            self._seen.add(line)
            self._stream.write(line)


@contextmanager
def each_line_once() -> Iterator[None]:
    """Print each line once within the context, however often code prints it."""
    lines = _EachLineOnce(sys.stdout)
    try:
        with redirect_stdout(lines):
            yield
    finally:
        lines.finish()
