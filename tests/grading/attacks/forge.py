"""Answers to an exercise of lesson 02 that open a file for each sample and forge the check's counts."""

from tests.bank import answer

LESSON, CHECK = "02_multi_worker_handles", "operations_budget"
WASTEFUL = answer("multi_worker_handles", CHECK, "wrong_opens_for_each_sample").source
FORGED = "{'open labels.json': 1} if part == 'at_creation' else {'open part0.zip': 1, 'open part1.zip': 1}"
BELOW_PYTHON = """
import ctypes, os, zipfile
real, libc = zipfile.ZipFile, ctypes.CDLL(None)

def opened_by_the_c_library(path, *more):
    return real(os.fdopen(libc.open(str(path).encode(), os.O_RDONLY), "rb"), *more)

zipfile.ZipFile = opened_by_the_c_library
"""
LYING_PROBE = f"""
from course_utils.checks import multi_worker_handles
check = multi_worker_handles.{CHECK}
honest = check.probe

def probe(inputs, answer):
    found = honest(inputs, answer)
    return {{**found, **{{part: {FORGED} for part in ("at_creation", "in_worker")}}}}

object.__setattr__(check, "probe", probe)
"""
LYING_EVIDENCE = f"""
from course_utils.checks.core import evidence
honest = evidence.encode

def encode(value):
    found = value.get("evidence") if isinstance(value, dict) else None
    if isinstance(found, dict) and "in_worker" in found:
        found.update({{part: {FORGED} for part in ("at_creation", "in_worker")}})
    return honest(value)

evidence.encode = encode
"""

FORGERIES = {
    "blind_watch": "from course_utils.checks.core import audit\naudit._record = lambda *a: None\n",
    "empty_counts": "import sys\nsys.modules['course_utils.checks.multi_worker_handles.operations_budget']._counts = lambda seen: {}\n",
    "lying_probe": LYING_PROBE,
    "lying_evidence": LYING_EVIDENCE,
    "below_python": BELOW_PYTHON,
}
