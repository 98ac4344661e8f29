"""Show a script of the clinic, and say whether a student has named its illness."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from textwrap import fill

from IPython.display import Code, display

HERE = Path(__file__).parent
HEALTHY = "healthy"
LINE_WIDTH = 76  # characters, as the verdicts of exercises
NAMES = (
    "decoded_at_full_size", "epoch_not_set", "fewer_cores", "iterable_repeated", "memory_copied_on_write",
    "no_workers", "repeated_random_numbers", "shared_handle", HEALTHY,
)  # fmt: skip


@dataclass(frozen=True)
class Patient:
    """A script of the clinic.

    Attributes:
        path: Its file.
        cause: What it is ill with, or "healthy".
        evidence: What shows it; shown when it is named.
        look: Where to look; shown when something else is named.
    """

    path: Path
    cause: str
    evidence: str
    look: str


@dataclass(frozen=True)
class Feedback:
    """What a notebook shows of a name."""

    text: str

    def __repr__(self) -> str:
        return fill(self.text, LINE_WIDTH)


def show(letter: str) -> None:
    """Display the script of a letter in a notebook."""
    display(Code(filename=str(path(letter)), language="python"))


def path(letter: str) -> Path:
    """Return the file of a script, to run it."""
    return _patient(letter).path


def name(letter: str, cause: str) -> Feedback:
    """Say whether a script is ill in this way, and what shows it; nothing is stored and there are no marks.

    Args:
        letter: The script, `"a"` to `"j"`.
        cause: One of `NAMES`; `"?"` if it is not named yet.

    Raises:
        ValueError: There is no such script, or no such name.
    """
    patient = _patient(letter)
    if cause == "?":
        return Feedback("not named yet")
    if cause not in NAMES:
        raise ValueError(f"There is no {cause!r}: write one of {', '.join(NAMES)}, in quotes.")
    if cause == patient.cause:
        return Feedback(f"✓ ({letter}) {cause}: {patient.evidence}")
    return Feedback(f"✗ ({letter}) not {cause}. {patient.look}")


def _patient(letter: str) -> Patient:
    if letter not in patients():
        raise ValueError(f"There is no script {letter!r}: write one of {', '.join(patients())}, in quotes.")
    return patients()[letter]


@cache
def patients() -> dict[str, Patient]:
    """Return all scripts, by their letters."""
    key = tomllib.loads((HERE / "key.toml").read_text())
    return {letter: Patient(HERE / "scripts" / f"{letter}.py", **entry) for letter, entry in key.items()}
