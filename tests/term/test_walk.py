"""A term on a shared file system as the pages say: from the students' clone to the last mark.

A teacher and two students have accounts of their own. Each step begins where the one before has ended.
"""

import csv
import io
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

import pytest
from nbgrader.api import Gradebook
from playwright.sync_api import Browser
from traitlets.config import Config

from grading.site.deploy import Site
from grading.site.student_repository import README
from tests.browser.hub import as_user, missing, set_up, system_user
from tests.lessons.lesson import COURSE, LESSONS, graded, read, solved

pytestmark = [pytest.mark.proof, pytest.mark.skipif(bool(missing()), reason=missing())]
LESSON = LESSONS[0]
# Accounts of their own: the tests of the Hub may run at the same time.
TEACHER, *STUDENTS = "term-teacher", "term-ann", "term-bob"
ANN, BOB = STUDENTS
EXERCISE = next(iter(graded(read(LESSON.release))))
ANSWER = f"{EXERCISE}_answer"
DUE, EXTENDED = "2026-01-01 12:00+00:00", "2099-01-01 12:00+00:00"
TERM = """c = get_config()
c.Grading.due = {{{lesson!r}: {due!r}}}
c.Grading.extensions = {{{lesson!r}: {{{bob!r}: {extended!r}}}}}
c.Grading.penalty_per_day = 0.001
"""
TRUST = "git config --global --add safe.directory {folder}/.git"  # the students' repository is the teacher's
PAGES = [
    COURSE / "book" / "teachers" / "pages" / f"{name}.md"
    for name in ("a_term", "a_site", "with_administrators")
]
READ = "".join(path.read_text() for path in (*PAGES, README))
INDEX = ("UV_INDEX_URL", "UV_DEFAULT_INDEX", "PIP_INDEX_URL", "SSL_CERT_FILE")
POINTS = sum(cell.metadata.nbgrader.points for cell in graded(read(LESSON.release)).values())


@dataclass(frozen=True)
class Term:
    """A site, the teacher's clone of the course, and the repository for students."""

    site: Site

    @property
    def students(self) -> Path:
        return self.site.root.parent / "students"

    def home(self, user: str) -> Path:
        return Path(f"~{user}").expanduser()

    def teacher(self, *commands: str, folder: Path | None = None) -> str:
        """Run commands as the page on shared file systems says."""
        return self.run(TEACHER, "teacher", folder or self.site.course, *commands)

    def student(self, user: str, *commands: str) -> str:
        return self.run(user, "student", self.home(user) / "course", *commands)

    def run(self, user: str, role: str, folder: Path, *commands: str) -> str:
        assert not [command for command in commands if not is_documented(command)]
        lines = [
            f"export TEACHER_DIR={self.site.root}",
            ". $TEACHER_DIR/env/bin/activate",
            f"export JUPYTER_CONFIG_PATH=$TEACHER_DIR/jupyter/{role}",
            f"cd {folder}",
            "export VENV=$TEACHER_DIR/env",
            "git config --global user.name Test",
            "git config --global user.email test@example.org",
            *(f"export {name}={shlex.quote(value)}" for name, value in os.environ.items() if name in INDEX),
            *commands,
        ]
        with tempfile.NamedTemporaryFile("w", suffix=".sh", dir="/var/tmp") as script:
            script.write("set -e\n" + "\n".join(lines))
            script.flush()
            Path(script.name).chmod(0o644)
            done = as_user(user, "sh", script.name)
        assert done.returncode == 0, f"{commands}\n{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
        return done.stdout + done.stderr

    def notebook(self, user: str) -> Path:
        return self.home(user) / "course" / "notebooks" / LESSON.name / f"{LESSON.name}.ipynb"


def is_documented(command: str) -> bool:
    """Return whether a page of teachers or students names a command of the course or of nbgrader."""
    found = re.match(r"(make|nbgrader|python -m) [\w.]+", command)
    return found is None or found[0] in READ


@pytest.fixture(scope="module")
def term() -> Iterator[Term]:
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="term-", dir="/var/tmp")))
        folder.chmod(0o777)
        for user in (TEACHER, *STUDENTS):
            stack.enter_context(system_user(user))
        site = set_up(folder, TEACHER)
        hand_over(site)
        # The packages are hard links to those of this account's cache.
        stack.callback(subprocess.run, ["chown", "-R", str(os.geteuid()), site.environment], check=True)
        yield Term(site)


def hand_over(site: Site) -> None:
    """Put uv where `make` puts it, and let the teacher change the environment."""
    uv = shutil.which("uv") or shutil.which("uv", path=COURSE / ".tools" / "bin")
    tools = site.source / ".tools" / "bin"
    tools.mkdir(parents=True)
    shutil.copy(uv, tools)
    subprocess.run(["chown", "-R", TEACHER, site.environment], check=True)


def edit(path: Path, change) -> None:
    """Change a notebook as JupyterLab would save it, and leave its owner as it is."""
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data, indent=1))


def answer(data: dict, name: str, source: str) -> None:
    [cell] = [cell for cell in data["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == name]
    cell["source"] = source


def link_of_the_hub(term: Term, user: str) -> list[str]:
    """Return the commands that the students' link runs, in the environment of a server on the Hub."""
    settings: dict = {"get_config": Config}
    exec((term.site.root / "jupyterhub_config.py").read_text(), settings)
    spawner = SimpleNamespace(user=SimpleNamespace(name=user), environment={})
    settings["configure_role"](spawner)
    exports = [f"export {name}={shlex.quote(value)}" for name, value in spawner.environment.items()]
    return [*exports, f"gitpuller {term.students} main {term.home(user) / 'course'}"]


def test_students_clone_a_repository_without_solutions(term):
    assert TRUST.format(folder="/the/folder") in READ
    said = term.teacher(f"make students STUDENTS={term.students}", folder=term.site.source)
    assert "committed version" in said
    trust = TRUST.format(folder=term.students)
    for user in STUDENTS:
        term.run(user, "student", term.home(user), trust, f"git clone --quiet {term.students} course")
        assert not (term.home(user) / "course" / "solutions").exists()
        assert term.notebook(user).exists()


def test_an_update_in_mid_term_keeps_the_answers(term):
    for user in STUDENTS:
        edit(term.notebook(user), lambda data: answer(data, ANSWER, "MINE = 1  # not finished"))
    solution = term.site.source / "solutions" / LESSON.name / f"{LESSON.name}.ipynb"

    def change(data: dict) -> None:
        cell = next(one for one in data["cells"] if one["cell_type"] == "markdown")
        cell["source"] = [*cell["source"], "\n\nA sentence that the teacher has added."]
        marked = next(
            one for one in data["cells"] if one["metadata"].get("nbgrader", {}).get("grade_id") == ANSWER
        )
        marked["source"] = ["# A comment that the teacher has added.\n", *marked["source"]]

    edit(solution, change)
    term.teacher(
        "make release FORCE=yes",
        "git commit --quiet --all --message 'A corrected lesson'",
        f"make students STUDENTS={term.students}",
        folder=term.site.source,
    )
    assert LESSON.name in term.student(ANN, "python -m course_utils.update")
    term.student(BOB, *link_of_the_hub(term, BOB))
    for user in STUDENTS:
        text = term.notebook(user).read_text()
        assert "MINE = 1" in text
        assert "A sentence that the teacher has added." in text


def test_a_site_follows_its_clone(term):
    said = term.teacher(
        f"python -m grading.site {term.site.root} --python {term.site.python} --teacher {TEACHER} --source .",
        folder=term.site.source,
    )
    assert "updated the course in the environment" in said
    assert f"updated {term.site.course} to" in said


def test_students_validate_and_hand_in(term):
    term.teacher(f"nbgrader release_assignment {LESSON.name}")
    answers = {name: cell.source for name, cell in solved(read(LESSON.solution)).items()}

    def solve(data: dict) -> None:
        for name, source in answers.items():
            answer(data, name, source)

    edit(term.notebook(ANN), solve)
    notebook = term.notebook(ANN).relative_to(term.home(ANN) / "course")
    assert "Success" in term.student(ANN, f"nbgrader validate {notebook}")
    for user in STUDENTS:
        assert "Submitted as" in term.student(user, "cd notebooks", f"nbgrader submit {LESSON.name}")


def test_marks_know_due_dates_extensions_and_names(term):
    config = TERM.format(lesson=LESSON.name, due=DUE, bob=BOB, extended=EXTENDED)
    (term.site.course / "term_config.py").write_text(config)
    (term.site.course / "students.csv").write_text(
        f"id,first_name,last_name,email\n{ANN},Ann,Aa,ann@example.org\n{BOB},Bob,=Bb,bob@example.org\n"
    )
    subprocess.run(["chown", TEACHER, *term.site.course.glob("term*.py"), *term.site.course.glob("*.csv")])
    said = term.teacher("nbgrader db student import students.csv", "make collect", "make grade")
    assert "2 of 2 submissions written" in said
    assert f"{ANN}: late by" in said
    assert "points less" in said
    assert f"{BOB}: late" not in said


def marks(term: Term) -> dict[str, float]:
    with Gradebook(f"sqlite:///{term.site.course}/gradebook.db") as book:
        found = {one.student.id: one.score for one in book.assignment_submissions(LESSON.name)}
    return found


def test_points_that_the_teacher_gives_stay_after_a_changed_check(term):
    assert marks(term) == {ANN: POINTS, BOB: 0}
    with Gradebook(f"sqlite:///{term.site.course}/gradebook.db") as book:
        grade = book.find_grade(EXERCISE, LESSON.name, LESSON.name, BOB)
        grade.manual_score, grade.needs_manual_grade = 1.0, False
        comment = next(one for one in book.find_submission_notebook(LESSON.name, LESSON.name, BOB).comments)
        comment.manual_comment = "You were on the right way."
        book.db.commit()
    checks = term.site.source / "course_utils" / "checks" / "input_pipeline" / f"{EXERCISE}.py"
    checks.write_text(checks.read_text() + "\n# A change of the check.\n")
    deploy = (
        f"python -m grading.site {term.site.root} --python {term.site.python} --teacher {TEACHER} --source ."
    )
    term.teacher("git commit --quiet --all --message 'A changed check'", deploy, folder=term.site.source)
    said = term.teacher("make grade")
    assert "regrade" in said or "written" in said
    assert marks(term) == {ANN: POINTS, BOB: 1.0}


@pytest.mark.parametrize("system", ["plain", "canvas", "moodle", "brightspace"])
def test_marks_are_exported_for_each_system(term, system):
    term.teacher(f'make export GRADE_OPTIONS="--for {system} --to marks-{system}.csv"')
    rows = list(csv.reader(io.StringIO((term.site.course / f"marks-{system}.csv").read_text())))
    [ann] = [row for row in rows if any(ANN in cell or "ann@example.org" in cell for cell in row)]
    assert any(cell not in ("", "0", "0.0") and _is_number(cell) for cell in ann)
    assert not [cell for row in rows for cell in row if cell.startswith("=")]


def _is_number(text: str) -> bool:
    return text.replace(".", "", 1).isdigit()


def test_feedback_is_readable_at_a_students_width(term, browser: Browser):
    term.teacher("make feedback GRADE_OPTIONS=--release")
    term.student(BOB, "cd notebooks", f"nbgrader fetch_feedback {LESSON.name}")
    [page_file] = (term.notebook(BOB).parent / "feedback").rglob("*.html")
    folder = COURSE / "artifacts" / "term"
    folder.mkdir(parents=True, exist_ok=True)
    for width in (1400, 800, 400):
        page = browser.new_page(viewport={"width": width, "height": 900})
        page.goto(page_file.as_uri())
        page.screenshot(path=folder / f"feedback-{width}.png")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert "You were on the right way." in page.inner_text("body")
        page.close()
