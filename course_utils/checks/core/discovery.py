"""Find the checks of a lesson: every module of its package is one."""

import importlib
import pkgutil

from course_utils.checks.core.check import Check


def find_checks(package: str) -> dict[str, Check]:
    """Import the modules of a lesson's package and make a check of each.

    Args:
        package: The lesson's package, such as ``course_utils.checks.jpeg_vs_zip``. Each of its modules defines
            ``make``, ``probe`` and ``judge``, and may define ``outside`` (see `Check`).

    Returns:
        Checks by the name of their module, in alphabetical order.

    Raises:
        AttributeError: A module lacks one of the three functions.
    """
    path = importlib.import_module(package).__path__
    names = sorted(module.name for module in pkgutil.iter_modules(path))
    return {name: Check.from_module(importlib.import_module(f"{package}.{name}")) for name in names}
