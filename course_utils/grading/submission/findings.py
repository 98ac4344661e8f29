"""Findings about a submission, for the teacher."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Finding:
    """Something in a submission that is not as released.

    Attributes:
        kind: `damaged` (may be an accident), `tampered` (is none), or `suspicious` (for a teacher to read).
        what: One sentence for the teacher.
    """

    kind: str
    what: str
