"""Find the checks of a lesson: each module in its package defines one, unless its name starts with `_`."""

import importlib
import pkgutil

from course_utils.checks.core.check import Check


def find_checks(package: str) -> dict[str, Check]:
    """Import all modules of a lesson's package and build a check from each.

    Args:
        package: The lesson's package, such as ``course_utils.checks.jpeg_vs_zip``. Each module in it defines
            ``make``, ``probe`` and ``judge``, and may define ``stable`` and a class ``World`` (see `Check`).

    Returns:
        The checks by module name, in alphabetical order.

    Raises:
        AttributeError: A module lacks one of the three functions; the message names both.
    """
    path = importlib.import_module(package).__path__
    names = sorted(m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_"))
    return {name: Check.from_module(importlib.import_module(f"{package}.{name}")) for name in names}
