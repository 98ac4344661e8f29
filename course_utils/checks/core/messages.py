"""Read what a check tells a student about a mistake from `messages.toml`, beside the lesson's checks."""

import tomllib
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from course_utils.checks.core.check import Mistake

CHECKS = Path(__file__).parents[1]
MESSAGE_FILE = "messages.toml"


class Messages:
    """The messages of a module of checks: ``raise mistake("too_long", length=7)``.

    In `messages.toml` its table has the module's name. `wrong_length.labels` is one of several messages for
    the mistake `wrong_length`.

    Args:
        module: The module's ``__name__``.
    """

    def __init__(self, module: str) -> None:
        _, _, room, *_, self.table = module.split(".")
        self.path = CHECKS / room / MESSAGE_FILE

    def __call__(self, name: str, /, **values: object) -> Mistake:
        """Return the mistake of a message, whose fields these values fill."""
        return Mistake(name.partition(".")[0], self.text(name, **values))

    def text(self, name: str, /, **values: object) -> str:
        """Return a message, or a part of one.

        Raises:
            LookupError: There is no such message, or a value is missing; it says which.
        """
        try:
            return messages_of(self.path)[self.table][name].format_map(values)
        except LookupError as error:
            raise LookupError(f"{self.path}, [{self.table}] {name}: there is no {error}") from error

    def raise_first(self, mistakes: Mapping[str, object], /, **values: object) -> None:
        """Raise the first mistake whose condition is true: list the nearest one first.

        Args:
            mistakes: Conditions by the name of a message.
            values: What fills the fields of these messages.
        """
        for name, condition in mistakes.items():
            if condition:
                raise self(name, **values)


@cache
def messages_of(path: Path) -> dict[str, dict[str, str]]:
    """Return the messages of a file by table and by name; read when a student first makes a mistake."""
    tables = tomllib.loads(path.read_text(encoding="utf-8"))
    return {table: dict(_flat(messages)) for table, messages in tables.items()}


def _flat(messages: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for name, text in messages.items():
        if isinstance(text, str):
            yield name, text
        else:
            yield from ((f"{name}.{more}", part) for more, part in text.items())
