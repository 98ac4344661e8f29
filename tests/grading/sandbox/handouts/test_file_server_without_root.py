"""A teacher without root gets the same verdicts: the files of checks are served for every user."""

import json
from pathlib import Path

import pytest

from course_utils.grading.sandbox.isolation import backends
from tests.bank import answer
from tests.grading.ordinary_user import missing, run_as_ordinary_user

KINDS = [kind for kind in backends.KINDS if backends.works(kind)]
ANSWERS = {
    "handle_per_process": ("right_keyed_by_pid", "wrong_cached_by_path"),
    "survives_spawn": ("right_lazy", "wrong_forgets_the_flip"),
    "operations_budget": ("right_lru_cache", "wrong_reads_the_labels_in_each_worker"),
    "million_labels": ("right_numpy", "wrong_converted_in_each_worker"),
}
GRADE = """
import json
from course_utils.grading.sandbox import Sandbox
from tests.grading.scoring.single_answer import grade_answer
from tests.grading.sandbox.handouts.test_file_server_without_root import ANSWERS
from tests.bank import answer

class Watching(Sandbox):
    served = True
    def run(self, *arguments):
        replies = super().run(*arguments)
        seen = [reply.files for reply in replies.values() if reply.files is not None]
        Watching.served &= all(files.events is not None for files in seen)
        return replies

found = {{}}
with Watching({kind!r}) as first, Watching({kind!r}) as second:
    for check, names in ANSWERS.items():
        for name in names:
            one = answer("multi_worker_handles", check, name)
            found[name] = grade_answer((first, second), one.lesson, check, one.source).exercise["mistake"]
print(json.dumps([Watching.served, found]))
"""


@pytest.mark.proof
@pytest.mark.skipif(not KINDS, reason="no sandbox works here")
@pytest.mark.skipif(bool(missing()), reason=missing())
@pytest.mark.skipif(not Path("/dev/fuse").exists(), reason="this kernel has no file systems in user space")
@pytest.mark.parametrize("kind", KINDS)
def test_lesson_02_is_graded_for_an_ordinary_user_with_served_files(tmp_path, kind):
    done = run_as_ordinary_user(GRADE.format(kind=kind), tmp_path, fuse=True)
    assert done.stdout, done.stderr
    served, found = json.loads(done.stdout)
    assert served
    bank = [answer("multi_worker_handles", check, name) for check, names in ANSWERS.items() for name in names]
    assert found == {one.name: one.mistake or "" for one in bank}
