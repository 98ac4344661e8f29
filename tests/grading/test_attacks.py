"""All attacks in one class, graded as a teacher does: none gains points, reads secrets or breaks anything."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from nbgrader.api import Gradebook

from grading.course.config import Course
from grading.course.result import Task
from grading.nbgrader_plugins import feedback
from grading.sandbox.isolation.backends import NoSandboxError, choose
from tests.grading.attacks import damage, fake, learn, tamper
from tests.grading.attacks.attack import TRACE
from tests.grading.hostile.folders import FOLDERS
from tests.grading.hostile.notebooks import NOTEBOOKS
from tests.grading.hostile.replies import REPLIES
from tests.grading.toy_course import LESSON, make_course, submit

pytestmark = pytest.mark.proof

# A handful of those in `hostile`, which are graded all together as a proof.
HOSTILE = {
    "hostile_name": FOLDERS["name_not_utf8"],
    "hostile_stamp": FOLDERS["stamp_is_a_full_folder"],
    "hostile_notebook": NOTEBOOKS["points_of_4000_digits"],
    "hostile_reply": REPLIES["pictures_a_number"],
    "hostile_evidence": REPLIES["dict_of_a_list"],
}
ATTACKS = {**fake.ATTACKS, **learn.ATTACKS, **damage.ATTACKS, **tamper.ATTACKS, **HOSTILE}
LIMITS = "c.Grading.limits = {'cell_seconds': 5, 'exercise_seconds': 15, 'memory_mb': 700, 'file_mb': 64}"
SECRET = "SECRET_OF_THE_TEACHER"
PAGES = ("honest_with_own_cells", "read_environment", "shows_a_verdict", "raises_a_verdict")

try:
    choose()
except NoSandboxError as refusal:
    pytest.skip(str(refusal), allow_module_level=True)


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A graded class of attackers, with secrets in all places that a submission must not read."""
    course = make_course(tmp_path_factory.mktemp("course"), LIMITS)
    (course.root / "secret.txt").write_text(SECRET)
    victim = submit(course, "victim", total=f"# {SECRET}\ndef total_of(numbers):\n    return sum(numbers)")
    for name, attack in ATTACKS.items():
        folder = submit(course, name, attack.change, total=attack.total) if attack.change is None else None
        folder = folder or _changed(course, name, attack)
        if attack.folder is not None:
            attack.folder(folder)
    assert victim.exists()
    command = [
        sys.executable,
        "-m",
        "grading",
        "grade",
        "--course",
        str(course.root),
        "--jobs",
        "2",
    ]
    environment = {**os.environ, "COURSE_TEACHER_TOKEN": SECRET}
    subprocess.run(command, env=environment, stdout=subprocess.DEVNULL, check=True)
    for name in PAGES:
        feedback.write_feedback(course, Task(LESSON, name))
    return course


def _changed(course, name, attack):
    def change(notebook):
        tamper.cell_of(notebook, "total_answer").source = attack.total
        attack.change(notebook)

    return submit(course, name, change)


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_earns_only_honest_points(course, name):
    attack, result = ATTACKS[name], course.results.read(Task(LESSON, name))
    with Gradebook(f"sqlite:///{course.root}/gradebook.db") as gradebook:
        score = gradebook.find_submission(LESSON, name).score
    seen = json.dumps([result["exercises"], result["findings"]], indent=1)
    assert score == result["points"], seen
    assert score == attack.points or (attack.points == -1 and score <= 4), seen
    assert result["status"] in attack.statuses, seen


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_runs_to_its_end(course, name):
    """An attack that fails halfway, in a line that no longer fits the grader, would prove nothing."""
    result = course.results.read(Task(LESSON, name))
    if result["exercises"]["total"]["status"] in ("right", "wrong"):
        error = result["cells"].get("total-answer", {"error": ""})["error"]
        assert error.partition(":")[0].partition(" in Python ")[0] == ATTACKS[name].error


def test_no_result_or_feedback_holds_a_secret(course):
    for folder in ("marks", "autograded", "feedback"):
        found = (course.root / folder).rglob("*")
        paths = [path for path in found if path.is_file() and "victim" not in str(path)]
        assert paths
        for path in paths:
            assert SECRET not in path.read_text(errors="replace"), path


def test_no_submission_leaves_a_trace(course):
    texts = {name: json.dumps(course.results.read(Task(LESSON, name))["cells"]) for name in ATTACKS}
    assert [name for name, text in texts.items() if TRACE in text] == []
    places = [Path("/tmp"), Path("/usr"), Path("/"), *map(Path, sys.path)]
    assert [place for place in places if (place / TRACE).exists() or (place / f"{TRACE}.py").exists()] == []
    for table in ("shm", "msg"):
        keys = [line.split()[0] for line in Path(f"/proc/sysvipc/{table}").read_text().splitlines()[1:]]
        assert str(0x5EC2E7) not in keys


def test_search_finds_no_file_of_the_course(course):
    for name in ("read_gradebook", "read_solutions", "read_repository"):
        cells = course.results.read(Task(LESSON, name))["cells"].values()
        text = "".join(cell["text"] for cell in cells)
        assert not [file for file in ("gradebook.db", "/marks", f"{LESSON}.ipynb", "/.git") if file in text]


def test_pickle_from_a_submission_is_never_loaded(course):
    assert not Path("/tmp/PICKLE_RAN").exists()


def test_feedback_carries_no_script_of_a_student(course):
    page = (course.root / "feedback" / "honest_with_own_cells" / LESSON / f"{LESSON}.html").read_text()
    assert "my notes" in page
    assert "<script>alert" not in page


def test_every_submission_is_written_to_the_gradebook(course):
    assert len(list((course.results.folder / LESSON).glob("*.written"))) == len(ATTACKS) + 1
