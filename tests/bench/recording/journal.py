"""Results on disk, so that a benchmark that was killed resumes where it stopped."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


class Journal:
    """The results of a benchmark by name, each written as soon as it is known.

    Args:
        path: The file: one JSON list of name and result per line.
        settings: What the results depend on. Results of other settings are discarded.
    """

    def __init__(self, path: Path, settings: dict[str, Any]) -> None:
        self.path = path
        lines = path.read_text().splitlines(keepends=True) if path.exists() else []
        # A process that is killed while it writes leaves a last line without its end.
        results = dict(json.loads(line) for line in lines if line.endswith("\n"))
        same = results.get("settings") == json.loads(json.dumps(settings))
        self.results: dict[str, Any] = results if same else {"settings": settings}
        new = path.with_suffix(".new")
        new.write_text("".join(json.dumps(list(item)) + "\n" for item in self.results.items()))
        new.replace(path)

    def once(self, name: str, measure: Callable[[], Any]) -> Any:
        """Return the result of a name; measure and write it if it is not known yet."""
        if name not in self.results:
            self.results[name] = measure()
            with self.path.open("a") as file:
                file.write(json.dumps([name, self.results[name]]) + "\n")
        return self.results[name]
