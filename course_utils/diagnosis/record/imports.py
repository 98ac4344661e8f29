"""Actions that wait until the script has imported a module."""

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType

from course_utils.diagnosis.record.spool import attempt

Action = Callable[[ModuleType], None]


class AfterImport(importlib.abc.MetaPathFinder):
    """Call a function when a module has been imported."""

    def __init__(self, actions: dict[str, Action]) -> None:
        self.actions = actions

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Find the module as Python does, with the action after its execution."""
        action = self.actions.pop(name, None)
        spec = importlib.util.find_spec(name) if action else None
        if spec is None or spec.loader is None or action is None:
            return None
        execute = spec.loader.exec_module

        def exec_module(module: ModuleType) -> None:
            execute(module)
            attempt(action, module)

        spec.loader.exec_module = exec_module  # type: ignore[method-assign]
        return spec


def after_import(actions: dict[str, Action]) -> None:
    """Call each function with its module now, or when the script has imported it."""
    for name in [name for name in actions if name in sys.modules]:
        attempt(actions.pop(name), sys.modules[name])
    sys.meta_path.insert(0, AfterImport(actions))
