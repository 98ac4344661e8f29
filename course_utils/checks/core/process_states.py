"""What differs between processes: the states of the global random generators, and the hash of a text.

Other code draws from the global generators, too, so that an answer leaves them alone.
"""

import builtins
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
def salted_hash(salt: object) -> Iterator[None]:
    """Let `hash` of a text, also in a tuple, give another number, as each new Python does."""
    original = builtins.hash

    def is_salted(value: object) -> bool:
        return isinstance(value, str | bytes) or (isinstance(value, tuple) and any(map(is_salted, value)))

    def salted(value: object) -> int:
        return original((salt, value) if is_salted(value) else value)

    builtins.hash = salted
    try:
        yield
    finally:
        builtins.hash = original


class ProcessStates:
    """Gives blocks of code generators in states of their own and another `hash`, as several processes have.

    The generators outside get their states back when the `with` block ends.

    Attributes:
        changed: Names of the generators that a block has drawn from or seeded.
    """

    def __init__(self) -> None:
        self.changed = set[str]()

    def __enter__(self) -> "ProcessStates":
        self._outside = random.getstate(), np.random.get_state(), torch.get_rng_state()  # noqa: NPY002
        return self

    def __exit__(self, *_: object) -> None:
        random.setstate(self._outside[0])
        np.random.set_state(self._outside[1])  # noqa: NPY002
        torch.set_rng_state(self._outside[2])

    @contextmanager
    def of_process(self, number: int) -> Iterator[None]:
        """Run a block as in the process of this number."""
        _seed(number)
        wanted = _next_numbers()
        _seed(number)
        try:
            with salted_hash(number):
                yield
        finally:
            found = _next_numbers()
            self.changed |= {name for name, value in wanted.items() if found[name] != value}


def _seed(number: int) -> None:
    random.seed(number)
    np.random.seed(number)  # noqa: NPY002
    torch.default_generator.manual_seed(number)


def _next_numbers() -> dict[str, float]:
    """Draw a number from each generator: a hundredth of the time that comparing NumPy's states takes."""
    return {
        "random": random.random(),
        "np.random": np.random.random(),  # noqa: NPY002
        "torch": torch.rand(1).item(),
    }
