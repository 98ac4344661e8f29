"""Highlights the code of a page in a process with bounds: some texts take a lexer quadratic time."""

from __future__ import annotations

import html
import time
from collections.abc import Iterable

from nbconvert.filters import Highlight2HTML

from grading.scoring.bounded import Bounds, Exceeded, run_bounded

BOUNDS = Bounds(cpu_seconds=2)  # of a cell; honest ones take milliseconds
PAGE_SECONDS = 20.0


class Highlighter:
    """nbconvert's filter `highlight_code` for the cells of one notebook; what takes too long stays plain.

    Args:
        sources: The code of the cells.
    """

    def __init__(self, sources: Iterable[str]) -> None:
        self._pages: dict[str, str] = {}
        end = time.monotonic() + PAGE_SECONDS
        for source, page in run_bounded(_highlighted, list(dict.fromkeys(sources)), str, BOUNDS):
            if not isinstance(page, Exceeded):
                self._pages[source] = page
            if time.monotonic() > end:
                return

    def __call__(self, source: str, language: str | None = None, metadata: object = None) -> str:
        """Return a cell's code as HTML."""
        return self._pages.get(source) or _plain(source)


def _highlighted(source: str) -> str:
    try:
        return str(Highlight2HTML(pygments_lexer="ipython3")(source))
    except Exception:  # of the lexer
        return _plain(source)


def _plain(source: str) -> str:
    return f'<div class="highlight"><pre>{html.escape(source)}</pre></div>'
