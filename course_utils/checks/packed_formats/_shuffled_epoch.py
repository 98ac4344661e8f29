"""An epoch that is read through a student's shuffle buffer, as the world of the check records it."""

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from course_utils.checks.core import Mistake, Truth
from course_utils.checks.world.state import BaseWorld, Oracle, served

ZERO, NONE = 0, 1  # the tickets of samples that code may take for no sample


@dataclass
class Epoch:
    """The samples of a stream, and the record of when they were read and yielded.

    Attributes:
        size: Size of the buffer.
        tickets: The samples in the order of the stream.
        read: Those that were read, in this order.
        yielded: What was yielded; None for what is no sample.
        read_before: For each of these, how many samples had been read.
        most_held: How many samples had been read and not yielded, at most, when another one was asked for.
        least_held: How many of them, at least, after the first one was yielded.
        starts: How often the stream was started.
        ended: Whether the reader has seen the end of the stream.
        finished: Whether the buffer has come to its end.
    """

    size: int
    tickets: list[int]
    read: list[int] = field(default_factory=list)
    yielded: list[int | None] = field(default_factory=list)
    read_before: list[int] = field(default_factory=list)
    most_held: int = 0
    least_held: int = sys.maxsize
    starts: int = 0
    ended: bool = False
    finished: bool = False
    _position: int = 0

    @property
    def length(self) -> int:
        """Number of samples in the stream."""
        return len(self.tickets)

    @property
    def where(self) -> str:
        """What was read, for messages."""
        return f"a stream of {self.length} samples through a buffer of {self.size}"

    def start(self) -> None:
        """Go to the start of the stream."""
        self.starts += 1
        self._position = 0

    def next_sample(self) -> int | None:
        """Give out the next sample; None at the end of the stream."""
        held = len(self.read) - len(self.yielded)
        if self.yielded and not self.ended:
            self.least_held = min(self.least_held, held)
        if self._position == self.length:
            self.ended = True
            return None
        self.most_held = max(self.most_held, held)
        self.read.append(self.tickets[self._position])
        self._position += 1
        return self.read[-1]

    def take(self, ticket: int | None) -> None:
        """Take note of what was yielded."""
        self.yielded.append(ticket)
        self.read_before.append(len(self.read))

    def order(self) -> list[int]:
        """Return the positions in the stream of the samples that were yielded."""
        positions = {ticket: position for position, ticket in enumerate(self.tickets)}
        return [positions[ticket] for ticket in self.yielded if ticket is not None]

    def places(self) -> Iterator[tuple[int, int, int]]:
        """Yield the place by age of each yielded sample, 0 for the oldest, how many were held, and read."""
        held, entered = list[int](), 0
        for position, read in zip(self.order(), self.read_before, strict=True):
            held += range(entered, read)
            entered = read
            place = held.index(position)
            yield place, len(held), read
            del held[place]

    def ranks(self) -> tuple[list[float], list[float]]:
        """Return how old each yielded sample was among those in the buffer: 0 is the oldest, 1 the newest.

        Returns:
            The ranks before, and after all samples of the stream were read.
        """
        before, after = list[float](), list[float]()
        for place, held, read in self.places():
            (before if read < self.length else after).append((place + 0.5) / min(held, self.size))
        return before, after


class World(BaseWorld):
    """The streams; nobody knows a sample before it is asked for. Of a stream of numbers, two are special."""

    def __init__(self, truth: Truth) -> None:
        oracle = Oracle(truth["key"])
        self.epochs = list[Epoch]()
        for number, drawn in enumerate(truth["epochs"]):
            tickets = [oracle.number(2**40, number, position) + 2 for position in range(drawn["length"])]
            if drawn["special"]:
                tickets[drawn["length"] // 2], tickets[drawn["length"] * 3 // 4] = ZERO, NONE
            self.epochs.append(Epoch(drawn["size"], tickets))

    @served
    def start(self, epoch: int) -> None:
        """Go to the start of a stream."""
        self.epochs[epoch].start()

    @served
    def next_sample(self, epoch: int) -> int | None:
        """Give out the next sample of a stream; None at its end."""
        return self.epochs[epoch].next_sample()

    @served
    def take(self, epoch: int, ticket: int | None) -> None:
        """Take what the student's buffer yields."""
        self.epochs[epoch].take(ticket)

    @served
    def finish(self, epoch: int) -> None:
        """Take note of the end of the student's buffer."""
        self.epochs[epoch].finished = True


def expect_each_once(epoch: Epoch) -> None:
    """Compare the samples that were yielded with those of the stream.

    Raises:
        Mistake: Some are lost, doubled, changed, or of another stream.
    """
    if None in epoch.yielded:
        raise Mistake(
            "other_samples",
            f"In {epoch.where}, something other than a sample is yielded. Yield the objects as they are, "
            "whatever they are. A NumPy function that takes a list makes an array of it: draw an index.",
        )
    if foreign := set(epoch.yielded) - set(epoch.read):
        raise Mistake(
            "shares_state",
            f"In {epoch.where}, {len(foreign)} samples of another stream are yielded. Keep the buffer in a "
            "variable of each call, not in a global one or in a default argument.",
        )
    if epoch.starts > 1:
        raise Mistake(
            "starts_again",
            f"Your code starts {epoch.where} {epoch.starts} times. A second `for` over a list or a reader "
            "begins anew: take one iterator, iter(stream), and use it everywhere.",
        )
    if doubled := [ticket for ticket, count in Counter(epoch.yielded).items() if count > 1]:
        raise Mistake(
            "yields_twice",
            f"In {epoch.where}, {len(doubled)} samples are yielded more than once. A sample that is yielded "
            "leaves the buffer: put the next one of the stream in its place, or remove it.",
        )
    if lost := set(epoch.tickets) - set(epoch.yielded):
        raise _loss(epoch, lost)


def _loss(epoch: Epoch, lost: set[int]) -> Mistake:
    last = set() if epoch.ended else {*epoch.read[-1:]}
    if lost <= {ZERO, NONE} or last & {ZERO, NONE}:
        is_zero = ZERO in (last or lost)
        return Mistake(
            "zero_taken_for_none" if is_zero else "none_taken_for_the_end",
            f"A sample that is {'0' if is_zero else 'None'} is lost, or taken for the end of the stream; a "
            "sample may be any object. Use a `for` loop, or `next(samples, end)` with `end = object()`.",
        )
    if epoch.length <= epoch.size:
        return Mistake(
            "loses_short_streams",
            f"Of {epoch.where}, {len(lost)} are lost. A stream may end before the buffer is full, or just "
            "then: yield all the same what the buffer holds.",
        )
    if epoch.ended and epoch.read_before.count(epoch.length) <= 1:
        return Mistake(
            "drops_the_rest",
            f"In {epoch.where}, {len(lost)} samples are lost. When the stream ends, the buffer still holds "
            "samples: yield them too.",
        )
    return Mistake("loses_samples", f"In {epoch.where}, {len(lost)} samples are lost. Yield each one.")


def expect_bounds(epoch: Epoch) -> None:
    """Check that the buffer is full before it yields, and never holds more than its size.

    Raises:
        Mistake: It is not full, or holds more.
    """
    if epoch.most_held > epoch.size:
        raise Mistake(
            "holds_too_much",
            f"In {epoch.where}, another sample is read while {epoch.most_held} are held, and at most "
            f"{epoch.size} may be: yield one before you read on.",
        )
    if epoch.yielded and epoch.read_before[0] < min(epoch.size, epoch.length):
        raise Mistake(
            "yields_too_early",
            f"In {epoch.where}, the first sample is yielded when {epoch.read_before[0]} have been read. Fill "
            "the buffer first: the first few samples in class order are all of one class.",
        )
    if epoch.least_held < epoch.size - 1:
        raise Mistake(
            "not_filled_up",
            f"In {epoch.where}, another sample is read when {epoch.least_held} are left of those that filled "
            "the buffer. Read one for each that leaves: a buffer that is emptied before it is filled again "
            "mixes only what was read together.",
        )
    if epoch.size == 1 and epoch.yielded != epoch.tickets:
        raise Mistake(
            "one_too_many",
            "With size=1 there is nothing to choose from, and yet the order changes: you choose among "
            "size + 1 samples. The sample in hand takes the place of the one that leaves.",
        )
