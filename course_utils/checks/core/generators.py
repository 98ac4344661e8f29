"""The global random generators: other code draws from them, too, so that an answer leaves them alone."""

import random
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import torch


def generator_states() -> dict[str, object]:
    """Return the states of the global generators by name; equal states compare equal."""
    name, keys, *rest = np.random.get_state()  # noqa: NPY002 - the global one is what it asks for
    return {
        "random": random.getstate(),
        "np.random": (name, np.asarray(keys).tobytes(), *rest),
        "torch": torch.get_rng_state().numpy().tobytes(),
    }


@contextmanager
def as_in_process(number: int, changed: set[str]) -> Iterator[None]:
    """Run a block with the global generators in states of their own, as in a process of its own.

    Args:
        number: Number of the process, from which the states are drawn.
        changed: Gets the names of the generators that the block changes.
    """
    own = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002
    torch.default_generator.manual_seed(number)
    before = generator_states()
    try:
        yield
    finally:
        changed |= {name for name, state in generator_states().items() if state != before[name]}
        random.setstate(own[0])
        np.random.set_state(own[1])  # noqa: NPY002
        torch.set_rng_state(own[2])
