"""Findings about a submission, for the teacher."""

from __future__ import annotations

from dataclasses import dataclass

OTHER_VERSION = "other version"


@dataclass(frozen=True)
class Finding:
    """Something in a submission that is not as released.

    Attributes:
        kind: `damaged` (may be an accident), `tampered` (is none), or `suspicious` (a time stamp to look at),
            or `other version` (of the course, where it was released).
        what: One sentence for the teacher; of what is `damaged`, also for the student, with what to do.
    """

    kind: str
    what: str
