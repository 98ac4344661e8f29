"""Count the steps of Python code, which are the same in each run."""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


class CountedLength(int):
    """A number whose comparisons, additions and subtractions are steps, also where a built-in makes them.

    `min(free)` takes as many steps as there are numbers in `free`, if these come from such lengths.
    """

    __hash__ = int.__hash__

    def __lt__(self, other: object) -> Any:  # noqa: ANN401 - as int
        return int.__lt__(self, other)  # type: ignore[operator]

    def __le__(self, other: object) -> Any:  # noqa: ANN401
        return int.__le__(self, other)  # type: ignore[operator]

    def __gt__(self, other: object) -> Any:  # noqa: ANN401
        return int.__gt__(self, other)  # type: ignore[operator]

    def __ge__(self, other: object) -> Any:  # noqa: ANN401
        return int.__ge__(self, other)  # type: ignore[operator]

    def __eq__(self, other: object) -> Any:  # noqa: ANN401
        return int.__eq__(self, other)

    def __add__(self, other: Any) -> Any:  # noqa: ANN401
        return _counted(int.__add__(self, other))

    def __radd__(self, other: Any) -> Any:  # noqa: ANN401
        return _counted(int.__radd__(self, other))

    def __sub__(self, other: Any) -> Any:  # noqa: ANN401
        return _counted(int.__sub__(self, other))

    def __rsub__(self, other: Any) -> Any:  # noqa: ANN401
        return _counted(int.__rsub__(self, other))


def _counted(result: Any) -> Any:  # noqa: ANN401 - a number, or NotImplemented
    return CountedLength(result) if isinstance(result, int) else result


class _TooManySteps(BaseException):
    """Ends the code that is counted; not an `Exception`, which it may catch."""


def count_steps(action: Callable[[], object], most: int) -> int:
    """Call a function, and count its steps: lines, calls, and turns of loops and generators.

    What compiled code does, such as NumPy's, is one step, except that it asks `CountedLength` each time.

    Args:
        action: The function; it is stopped after `most` steps.
        most: The steps after which counting ends.

    Returns:
        The number of steps, at most `most` + 1.
    """
    steps = 0

    def trace(frame: FrameType, event: str, argument: object) -> Any:  # noqa: ANN401 - itself
        nonlocal steps
        steps += 1
        if steps > most:
            raise _TooManySteps
        return None if frame.f_code.co_filename == __file__ else trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        action()
    except _TooManySteps:
        pass
    finally:
        sys.settrace(before)
    return steps
