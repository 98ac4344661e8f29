"""What goes wrong on the way to an object store, on purpose and the same each time."""

import random
from dataclasses import dataclass
from typing import Literal

Kind = Literal["busy", "short", "closed", "other_bytes"]
KINDS: tuple[Kind, ...] = ("busy", "short", "closed", "other_bytes")


@dataclass(frozen=True)
class Fault:
    """Each so many requests, one goes wrong.

    Args:
        kind: ``"busy"`` is answered with status 503; ``"short"`` with fewer bytes than asked for, as the
            header says; ``"closed"``: the connection closes in the middle of the body; ``"other_bytes"``: one
            bit of the body is another one, and nothing says so.
        every: Which requests: with 4, the fourth, the eighth and so on. 1 means all.
        seed: Decides which bit.

    Raises:
        ValueError: There is no such kind, or `every` is less than 1.
    """

    kind: Kind
    every: int = 4
    seed: int = 0

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.every < 1:
            raise ValueError(f"{self}: the kinds are {', '.join(KINDS)}, and `every` is at least 1")

    def meets(self, number: int) -> bool:
        """Return whether this request goes wrong; they are counted from 1."""
        return number % self.every == 0

    def damaged(self, body: bytes, number: int) -> bytes:
        """Return the body of a request with one bit flipped."""
        if not body:
            return body
        generator = random.Random(f"{self.seed} {number}")
        other = bytearray(body)
        other[generator.randrange(len(body))] ^= 1 << generator.randrange(8)
        return bytes(other)
