"""Reuse the memory of batches once no tensor refers to it any more."""

import weakref
from collections import deque

import numpy as np
import torch


class BufferPool:
    """Tensors of one shape in reused memory.

    New memory costs a page fault every 4 KiB. So the memory of a tensor returns to this pool when the tensor
    and all that share its memory are gone, and a later tensor reuses it. A tensor still referenced is never
    overwritten.

    Args:
        shape: Shape of the tensors.
        dtype: Type of their elements.
        pinned: Use page-locked memory, from which a GPU copies asynchronously.
    """

    def __init__(
        self, shape: tuple[int, ...], dtype: torch.dtype = torch.uint8, pinned: bool = False
    ) -> None:
        self.shape, self.dtype, self.pinned = shape, dtype, pinned
        self._lent: dict[int, tuple[weakref.ref[np.ndarray], np.ndarray | None]] = {}
        self._returned: deque[weakref.ref[np.ndarray]] = deque()

    def take(self) -> torch.Tensor:
        """Return a tensor with arbitrary content; only one thread may call this."""
        memory = self._reclaim()
        if memory is None:
            memory = self._allocate()
        lent = memory.view()  # the tensor's storage holds this view, so both are freed together
        # A C function: one written in Python would swallow a Ctrl-C that arrives while it runs.
        watch = weakref.ref(lent, self._returned.append)
        self._lent[id(watch)] = watch, memory
        return torch.from_numpy(lent)

    def _reclaim(self) -> np.ndarray | None:
        """Return the memory of a tensor that is gone, or None."""
        try:
            watch = self._returned.pop()
        except IndexError:
            return None
        return self._lent.pop(id(watch), (watch, None))[1]  # a Ctrl-C may have come before it was stored

    def _allocate(self) -> np.ndarray:
        if self.pinned:
            return torch.empty(self.shape, dtype=self.dtype, pin_memory=True).numpy()
        # NumPy, unlike PyTorch, asks the system for huge pages, which cause fewer TLB misses.
        return np.empty(self.shape, torch.empty(0, dtype=self.dtype).numpy().dtype)
