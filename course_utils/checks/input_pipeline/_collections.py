"""Collections whose items and transforms a world serves, and a record of each access to their datasets."""

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from course_utils.checks.core import Truth
from course_utils.checks.world.handle import Handle
from course_utils.checks.world.state import BaseWorld, Oracle, served

# The datasets by number: two with a transform, one without, one for each other kind of collection, and one
# whose collection is empty.
TRANSFORMED, PLAIN = (0, 1), 2
KINDS: dict[int, Callable[[list[int]], Any]] = {3: list, 4: tuple, 5: np.array}
EMPTY = 6


class MinimalCollection:
    """A collection with a length and items, which knows neither negative indices nor an end.

    Args:
        world: Knows the items.
        number: Number of the collection there.
        length: Number of items.
    """

    def __init__(self, world: Handle, number: int, length: int) -> None:
        self._world, self._number, self._length = world, number, length

    def __len__(self) -> int:
        return self._length

    def __getitem__(self, index: int) -> int:
        if not isinstance(index, int | np.integer) or index < 0:
            raise TypeError(f"this collection takes integer indices from 0 on, not {index!r}")
        item: int = self._world.item(self._number, operator.index(index))
        return item

    def __iter__(self) -> Iterator[int]:
        return (self[index] for index in range(len(self)))


class Output(NamedTuple):
    """A call of a transform: that of which dataset, of which item, and what it returned."""

    dataset: int
    item: int
    value: int


class Result(NamedTuple):
    """What an access led to: an integer, the type of another value, or the type of an exception."""

    value: int | None = None
    error: str = ""
    kind: str = ""


@dataclass
class Access:
    """One access to a dataset, and what it caused.

    Attributes:
        dataset: Number of the dataset; -1 for what happens before the first access, and after the last.
        index: The index.
        reads: Collections that items were read from.
        outputs: The calls of transforms meanwhile.
        value: What the access returned, if it is an integer.
        error: Type of the exception that the access raised; empty if it returned.
        kind: Type of what the access returned, if it is no integer.
    """

    dataset: int
    index: int
    reads: list[int] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    value: int | None = None
    error: str = ""
    kind: str = ""


class World(BaseWorld):
    """The items, the transforms and the order of the accesses; none is known before it is asked for.

    One item of each collection is 0, and so is what the transform first returns for another one: code that
    asks `if item` takes them for missing ones.
    """

    def __init__(self, truth: Truth) -> None:
        self._oracle, self.length = Oracle(truth["key"]), int(truth["length"])
        self.numbers: list[int] = truth["numbers"]
        self._zero = self.numbers.index(0)
        self._outputs: dict[int | None, Output] = {}
        self.creation, self._end = Access(-1, 0), Access(-1, 0)
        self.accesses: list[Access] = []
        self._left = list(reversed(truth["accesses"]))
        self._now = self.creation

    @property
    def complete(self) -> bool:
        """Whether all accesses were made."""
        return not self._left

    @served
    def item(self, collection: int, index: int) -> int:
        """Read an item."""
        self._now.reads.append(collection)
        return self._item(collection, index)

    @served
    def transform(self, dataset: int, item: int) -> int:
        """Transform an item as a random transform does: to another number each time."""
        value = self._oracle.number(2**40, "output", dataset, item, self.calls) + 1
        if dataset == TRANSFORMED[0] and item and self._now.index >= 0 and 0 not in self._outputs:
            value = 0
        self._outputs[value] = Output(dataset, item, value)
        self._now.outputs.append(self._outputs[value])
        return value

    @served
    def next_access(self) -> tuple[int, int] | None:
        """Return the dataset and the index to access next."""
        if self.complete:
            self._now = self._end
            return None
        self._now = Access(*self._left.pop())
        self.accesses.append(self._now)
        return self._now.dataset, self._now.index

    @served
    def returned(self, value: int | None, error: str, kind: str = "") -> None:
        """Take what an access returned, or the exception it raised."""
        self._now.value, self._now.error, self._now.kind = value, error, kind

    def item_of(self, access: Access) -> int:
        """Return the item that an access in range reads."""
        return self.items(access.dataset)[access.index]

    def items(self, dataset: int) -> list[int]:
        """Return all items of a dataset's collection."""
        if dataset in KINDS:
            return self.numbers
        return [self._item(dataset, index) for index in range(self.length_of(dataset))]

    @staticmethod
    def serves_items(dataset: int) -> bool:
        """Return whether each read of an item of a dataset is recorded."""
        return dataset not in KINDS

    def length_of(self, dataset: int) -> int:
        """Return the length of a dataset's collection."""
        return 0 if dataset == EMPTY else self.length

    def source(self, value: int | None) -> Output | None:
        """Return the call of a transform that returned a value."""
        return self._outputs.get(value)

    def _item(self, collection: int, index: int) -> int:
        index %= self.length
        return self._oracle.number(2**40, "item", collection, index) + 1 if index != self._zero else 0
