"""Torch's own threads, where something else has the cores."""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


@contextmanager
def one_thread() -> Iterator[None]:
    """Keep torch from splitting its work for a while.

    Where decoders or workers have the cores, its threads would only wait for each other.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
