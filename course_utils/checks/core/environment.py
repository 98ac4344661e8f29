"""Modules of Python as they were before a student's code ran, for checks alone.

A student's cells run in the process of a probe, and change modules for good reasons: `tempfile.tempdir` names
the fast disk of their cluster, `json.dumps` indents. Where a check lays out its files, and what it writes
into them, depends on none of that: it takes these modules from here, each loaded a second time.
"""

import importlib.util
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import json as json
    import pickle as pickle
    import shutil as shutil
    import tempfile as tempfile
    import zipfile as zipfile


def _own_copy(name: str) -> Any:  # noqa: ANN401 - a module
    """Load a module again, apart from the one that everybody imports."""
    spec = importlib.util.find_spec(name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


if not TYPE_CHECKING:
    json, pickle, shutil = _own_copy("json"), _own_copy("pickle"), _own_copy("shutil")
    tempfile, zipfile = _own_copy("tempfile"), _own_copy("zipfile")
tempfile.tempdir = tempfile.gettempdir()  # asked now, not when TMPDIR may name another folder
