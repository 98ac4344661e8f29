"""The indices that an epoch asks for: their order, which of them, and how often."""

from typing import Any

import numpy as np

MOST_BITS = 200_000_000  # a bit for each sample: 25 MB
TOGETHER = 4_096  # indices that are looked at in one go, which costs less than a batch at a time


class Order:
    """Takes the index lists of one epoch, in constant memory."""

    def __init__(self, length: int) -> None:
        self.length, self.count, self.repeated, self.outside = length, 0, 0, 0
        self.order = self.samples = 0
        self.ascending, self._last = True, -1
        self.bits = np.zeros((length + 7) // 8, np.uint8) if 0 < length <= MOST_BITS else None
        self._waiting: list[int] = []

    def add(self, indices: Any) -> None:
        """Take one index or the list of a batch."""
        items = list(indices) if isinstance(indices, (list, tuple)) else [indices]
        if items and all(type(item) is int for item in items):
            self._waiting += items
            if len(self._waiting) >= TOGETHER:
                self._take_waiting()
        else:
            self._take_waiting()
            self._take(items)

    def _take_waiting(self) -> None:
        items, self._waiting = self._waiting, []
        self._take(items)

    def _take(self, items: list[Any]) -> None:
        try:
            numbers = np.asarray(items, np.int64).reshape(-1)
        except (TypeError, ValueError, OverflowError):
            numbers = np.asarray([hash(str(item)) for item in items], np.int64)
        if not numbers.size:
            return
        mixed = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
        self.samples = (self.samples + int(mixed.sum(dtype=np.uint64))) % 2**64
        self.order = hash((self.order, numbers.tobytes() if numbers.size > 8 else tuple(numbers.tolist())))
        self.ascending &= bool(numbers[0] > self._last and (np.diff(numbers) > 0).all())
        self._last = int(numbers[-1])
        self.count += numbers.size
        if self.bits is not None:
            self._mark(numbers)

    def _mark(self, numbers: Any) -> None:
        assert self.bits is not None
        inside = numbers[(numbers >= -self.length) & (numbers < self.length)] % self.length
        self.outside += numbers.size - inside.size
        unique = np.unique(inside)
        was = (self.bits[unique >> 3] >> (unique & 7).astype(np.uint8)) & 1
        self.repeated += inside.size - unique.size + int(was.sum())
        np.bitwise_or.at(self.bits, unique >> 3, np.uint8(1) << (unique & 7).astype(np.uint8))

    def summary(self) -> dict[str, Any]:
        """What the judge needs of it."""
        self._take_waiting()
        seen = int(np.unpackbits(self.bits).sum()) if self.bits is not None else -1
        return {
            "count": self.count, "order": self.order, "samples_hash": self.samples,
            "ascending": self.ascending,
            "repeated": self.repeated, "outside": self.outside,
            "missing": self.length - seen if seen >= 0 else -1,
        }  # fmt: skip
