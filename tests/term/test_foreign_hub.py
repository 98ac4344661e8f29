"""A course on a JupyterHub that others run, by what the page for teachers says and nothing else.

Root alone can change that Hub; the course's accounts are ordinary ones. Every command of the page is typed.
"""

import shlex
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from grading.site.deployment import Site
from tests.browser.hub import as_user, jupyterhub, missing, prepare, system_user
from tests.documents.commands import commands
from tests.lessons.lesson import COURSE, LESSONS, graded, read, solved
from tests.term.foreign_hub import TOKEN, install_hub, settings
from tests.term.test_walk import answer, edit
from tests.term.user_server import UserServer

pytestmark = [pytest.mark.proof, pytest.mark.skipif(bool(missing()), reason=missing())]
LESSON = LESSONS[0]
NAME = "feeding-the-gpu"
TEACHER, ANN, BOB = "own-teacher", "own-ann", "own-bob"
PAGE = [one.text for one in commands(COURSE / "book" / "teachers" / "pages" / "a_site.md", "a_site.md")]
POINTS = sum(cell.metadata.nbgrader.points for cell in graded(read(LESSON.release)).values())
FIRST_CELLS = 6  # up to the first photographs
EACH_TERMINAL = (
    "export TEACHER_DIR=/the/folder",
    ". $TEACHER_DIR/env/bin/activate",
    "export JUPYTER_CONFIG_PATH=$TEACHER_DIR/jupyter/teacher",
    "cd $TEACHER_DIR/course && export VENV=$TEACHER_DIR/env",
)


@dataclass
class Course:
    """A site, the servers of its students on the Hub, and the commands of the page that were typed."""

    site: Site
    hub_files: tuple[Path, ...]
    students: dict[str, UserServer]
    typed: set[str] = field(default_factory=set)

    def _written(self, texts: tuple[str, ...]) -> list[str]:
        assert not [text for text in texts if text not in PAGE]
        self.typed |= set(texts)
        return [text.replace("/the/folder", str(self.site.root)) for text in texts]

    def teacher(self, *texts: str, folder: str = "~") -> str:
        done = as_user(TEACHER, " && ".join([f"cd {folder}", *self._written(texts)]))
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def student(self, user: str, *texts: str) -> str:
        status, shown = self.students[user].terminal(*self._written(texts))
        assert status == 0, shown
        return shown

    def clone(self, user: str) -> Path:
        return Path(f"~{user}").expanduser() / "JHS_notebooks" / NAME

    def notebook(self, user: str) -> Path:
        return self.clone(user) / "notebooks" / LESSON.name / f"{LESSON.name}.ipynb"

    @property
    def inbound(self) -> Path:
        return self.site.exchange / NAME / "inbound"


@pytest.fixture(scope="module")
def course() -> Iterator[Course]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="own-", dir="/var/tmp")))
        folder.chmod(0o755)
        for user in (TEACHER, ANN, BOB):
            stack.enter_context(system_user(user))
        site = prepare(folder, TEACHER)
        (site.source / ".venv").symlink_to(site.environment)  # the teacher's own would take minutes
        environment = install_hub(folder / "hub")
        address = stack.enter_context(jupyterhub(folder, environment, settings(environment)))
        students = {user: UserServer(address, user, TOKEN) for user in (ANN, BOB)}
        yield Course(site, (environment, folder / "state" / "jupyterhub_config.py"), students)


@pytest.fixture(scope="module")
def hub_as_it_was(course) -> list[tuple[str, int]]:
    return state_of_the_hub(course)


def state_of_the_hub(course: Course) -> list[tuple[str, int]]:
    """Return each file of the Hub with when it was last changed; without bytecode, which it writes itself."""
    environment, configuration = course.hub_files
    files = [path for path in environment.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    return sorted((str(path), path.lstat().st_mtime_ns) for path in [configuration, *files])


def test_teacher_installs_the_course(course, hub_as_it_was):
    texts = (
        ". .venv/bin/activate",
        "export TEACHER_DIR=/the/folder",
        "python -m grading.site $TEACHER_DIR",
    )
    said = course.teacher(*texts, folder=str(course.site.source))
    assert said.endswith(f"students type {course.site.start}\n")
    assert "no changes" in course.teacher(*texts, folder=str(course.site.source))


def test_a_folder_of_others_is_refused_with_advice(course):
    command = f"{course.site.environment}/bin/python -m grading.site {course.site.root.parent}/hub/new"
    done = as_user(TEACHER, f"cd {course.site.source} && {command}")
    assert done.returncode == 1
    assert "name a TEACHER_DIR where your account can write" in done.stderr


@pytest.mark.parametrize("user", [ANN, BOB])
def test_student_starts_in_a_terminal_of_the_hub(course, user):
    assert course.students[user].kernels() == {"python3": "Python 3 (ipykernel)"}
    assert "The course is in" in course.student(user, "/the/folder/start")
    assert course.students[user].kernels() == {
        "python3": "Python 3 (ipykernel)",
        NAME: "Feeding the GPU",
    }


def test_lesson_runs_in_its_kernel_and_finds_the_data(course):
    notebook = course.notebook(ANN)
    place = str(notebook.relative_to(f"/home/{ANN}"))
    code = [cell for cell in read(notebook).cells if cell.cell_type == "code"]
    cells = [cell.source for cell in code if not cell.metadata.get("nbgrader")]
    kernel = read(notebook).metadata.kernelspec.name
    first = ["import course_utils; print(course_utils.__file__)", *cells[:FIRST_CELLS]]
    said = course.students[ANN].run_cells(place, kernel, first)
    assert said[0].startswith(str(course.site.environment))
    assert any(line.startswith("100 photographs") for one in said for line in one.splitlines()), said
    assert not [one for one in said if "Error" in one]
    [others] = course.students[ANN].run_cells(place, "python3", ["import course_utils"])
    assert "No module named 'course_utils'" in others


def test_students_hand_in(course):
    course.teacher(*EACH_TERMINAL, f"nbgrader release_assignment {LESSON.name}")
    answers = {name: cell.source for name, cell in solved(read(LESSON.solution)).items()}
    edit(course.notebook(ANN), lambda data: [answer(data, name, text) for name, text in answers.items()])
    for user in (ANN, BOB):
        said = course.student(user, f"cd ~/JHS_notebooks/{NAME}", "make submit LESSON=00")
        assert "Submitted as" in said
        assert len(list(course.inbound.glob(f"{user}+{LESSON.name}+*"))) == 1


def test_teacher_collects_grades_and_returns(course):
    texts = ("make collect", "make grade", "make feedback GRADE_OPTIONS=--release")
    said = course.teacher(*EACH_TERMINAL, *texts)
    assert "2 of 2 submissions written" in said


def test_students_read_their_own_feedback(course):
    pages = {}
    for user in (ANN, BOB):
        said = course.student(user, f"cd ~/JHS_notebooks/{NAME}", "make feedback LESSON=00")
        assert "Open in a browser: " in said
        [page] = (course.notebook(user).parent / "feedback").rglob("*.html")
        pages[user] = page.read_text()
    assert f"{POINTS:g} of {POINTS:g}" in pages[ANN]
    assert "not solved yet" in pages[BOB]
    assert "not solved yet" not in pages[ANN]


def test_a_student_reaches_nothing_of_another_and_nothing_of_the_teacher(course):
    [handed_in] = course.inbound.glob(f"{ANN}+*")
    copies = next(Path(f"/home/{ANN}/.local/share/jupyter/nbgrader_cache").rglob(f"{ANN}+*"))
    feedback = course.site.exchange / NAME / "feedback"
    Path(f"/home/{ANN}").chmod(0o755)  # as on many clusters
    forbidden = [
        f"cat {course.notebook(ANN)}",
        f"ls {course.clone(ANN)}",
        f"ls {shlex.quote(str(copies))}",
        f"ls {course.inbound}",
        f"ls {feedback}",
        f"mv {shlex.quote(str(handed_in))} {course.inbound}/gone",
        f"ls {course.site.course}",
        *(f"touch {course.site.root}/{name}/new" for name in ("env", "JHS_data", "students", "jupyter")),
        f"touch {course.site.start}",
        f"mv {course.site.exchange}/{NAME} {course.site.exchange}/gone",
    ]
    for command in forbidden:
        status, shown = course.students[BOB].terminal(command)
        assert status != 0, shown
        assert "Permission denied" in shown or "not permitted" in shown, shown


def test_every_command_of_the_page_was_typed_and_the_hub_is_as_it_was(course, hub_as_it_was):
    assert set(PAGE) == course.typed
    assert state_of_the_hub(course) == hub_as_it_was
