"""What the check of `survives_spawn` runs in its receiver, for a process that `spawn` has started."""

import importlib
from pathlib import Path
from typing import Any

CHECK = importlib.import_module("course_utils.checks.multi_worker_handles.survives_spawn")


def receive(folder: Path, orders: dict[str, list[int]], data: bytes) -> Any:
    """Unpickle and read, as the receiver does."""
    return CHECK._receive(folder, orders, lambda: data)
