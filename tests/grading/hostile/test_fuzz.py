"""Random folders, notebooks and replies of a sandbox: each is graded, and so is the honest one beside them.

The sandbox is replaced by one that replies with the bytes drawn, decoded as a real one's are; reading and
judging stay in this process. Both have tests of their own; here hundreds of cases reach the rest.
"""

import itertools
import json
import os
import shutil
from contextlib import contextmanager, suppress
from pathlib import Path
from types import SimpleNamespace

import msgspec
import nbformat
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from course_utils.checks.core import evidence
from grading.course.result import GRADER_FAULT, Task
from grading.course.result_store import ResultStore
from grading.nbgrader_plugins.preprocessor import write_outputs
from grading.sandbox.protocol import StepReply
from grading.sandbox.running_submission import _reply
from grading.sandbox.steps import Reply
from grading.scoring import judge, local, notebook_reader
from grading.submission.sanitize import STAMP, parse_stamp, sanitize_folder
from tests.grading.attacks.attack import ALL_POINTS
from tests.grading.toy_course import LESSON, make_course, submit

HONEST_EVERY = 10  # what one submission has left behind in this process stays there
EXAMPLES = pytest.mark.parametrize("examples", [20, pytest.param(200, marks=pytest.mark.proof)])
NOTEBOOK = f"{LESSON}.ipynb"

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([10**4000, -(2**63) - 1, 2**64, float("nan"), float("-inf"), "\ud800", "\x1b[2J\0", ""])
    | st.floats()
    | st.text(st.characters(), max_size=20)
)
texts = st.text(st.characters(), max_size=8)
json_values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)
plain_values = st.recursive(
    scalars | st.binary(max_size=40) | st.just(np.zeros((2, 3))),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["value", "text", "error"]) | texts, inner, max_size=4)
    ),
    max_leaves=12,
)

# Folders: what is made, in order; what cannot be made is left out.
names = (
    st.sampled_from(
        [NOTEBOOK, STAMP, "mine.ipynb", "lesson_file.txt", "removed-by-the-grader.txt", ".hidden", "d"]
    )
    | st.binary(min_size=1, max_size=6).filter(lambda name: not set(name) & set(b"/\0")).map(os.fsdecode)
    | st.integers(200, 255).map(lambda size: "n" * size)
)
paths = st.lists(names, min_size=1, max_size=3).map("/".join)
contents = st.binary(max_size=60) | st.sampled_from(
    [b"9" * 200, b"1e999999999", b"tampered: x\n", b"[" * 5000]
)
makings = st.tuples(
    paths,
    st.sampled_from(["file", "folder", "link", "pipe", "remove", "mode", "rename", "sparse"]),
    contents,
    names,
)


def make(folder: Path, path: str, kind: str, data: bytes, name: str) -> None:
    place = folder / path
    with suppress(OSError, ValueError):
        if kind in ("remove", "file", "link", "pipe") and (place.is_symlink() or not place.is_dir()):
            place.unlink(missing_ok=True)  # a pipe, too: to open it for writing would wait for a reader
        if kind == "file":
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(data)
        elif kind == "folder":
            place.mkdir(parents=True)
        elif kind == "link":
            place.symlink_to(os.fsdecode(data.replace(b"\0", b"0")) or name)
        elif kind == "pipe":
            os.mkfifo(place)
        elif kind == "mode":
            place.chmod(len(data) * 7 % 0o777)
        elif kind == "rename":
            place.rename(folder / name)
        elif kind == "sparse":
            os.truncate(place, len(data) * 2**20)


# Notebooks: values replaced anywhere in the released one, then bytes.
def replace(notebook: object, where: list[int], value: object) -> None:
    """Put a value into a notebook, at the place that the numbers lead to."""
    for number in where:
        keys = list(notebook) if isinstance(notebook, dict) else range(len(notebook))
        if not keys:
            return
        key = keys[number % len(keys)]
        if number == where[-1] or not isinstance(notebook[key], dict | list):
            notebook[key] = value
            return
        notebook = notebook[key]


replacements = st.lists(
    st.tuples(st.lists(st.integers(0, 30), min_size=1, max_size=5), json_values), max_size=4
)
cuts = st.none() | st.tuples(st.integers(0, 5000), st.integers(0, 30), st.binary(max_size=6))


def mutate(file: Path, changes: list[tuple[list[int], object]], cut: tuple[int, int, bytes] | None) -> None:
    notebook = json.loads(file.read_text())
    for where, value in changes:
        replace(notebook, where, value)
    data = json.dumps(notebook).encode()
    if cut is not None:
        start, size, inserted = cut
        data = data[:start] + inserted + data[start + size :]
    file.write_bytes(data)


# Replies: a message of the right form with any values, a message of any form, or any bytes.
fields = {
    "text": st.text(st.characters()) | plain_values,
    "error": plain_values,
    "evidence": st.binary()
    | plain_values.map(lambda value: evidence.encode({"evidence": value}))
    | plain_values.map(lambda value: evidence.encode({"crash": value})),
    "pictures": st.lists(st.binary(max_size=20) | st.just(b"\x89PNG")) | plain_values,
}
messages = (
    st.fixed_dictionaries({}, optional=fields).map(evidence.encode)
    | plain_values.map(evidence.encode)
    | st.binary(max_size=60)
)


class ReplyingSandbox:
    """A sandbox that gives the answers of the solution to the honest, and the messages drawn to the other."""

    kind = "bwrap"

    def __init__(self, lesson, messages):
        self.lesson, self.messages = lesson, messages

    def run(self, steps, files, known=None):
        """Reply to each step."""
        evidence.encode({"files": files})
        return (known or {}) | {step.index: self.reply(number, step) for number, step in enumerate(steps)}

    def reply(self, number, step):
        """Reply to one step."""
        handout = step.handout()
        try:
            if not self.messages:
                return self.honest(step, handout)
            data = self.messages[number % len(self.messages)]
            return _reply(evidence.decode(data, StepReply))
        except evidence.DamagedEvidenceError:
            return Reply("crashed", "The process died.")

    def honest(self, step, handout):
        """Reply as an honest submission does."""
        if not step.check:
            return Reply()
        answer = {"total": sum, "largest": max, "backwards": lambda word: word[::-1]}[step.check]
        return Reply(evidence=self.lesson.check(step.check).run_probe(handout.inputs, answer))


@pytest.fixture
def course(tmp_path, monkeypatch):
    def run_here(function, names, form):
        return [(name, msgspec.json.decode(msgspec.json.encode(function(name)), type=form)) for name in names]

    for module in (judge, notebook_reader):
        monkeypatch.setattr(module, "run_bounded", run_here)
    course = make_course(tmp_path)
    submit(course, "honest")
    return course


def grade(course, student, messages):
    """Grade one submission as `local.run_all` does in this process; return what was stored."""
    task, store = Task(LESSON, student), ResultStore(course.root / "runs")
    sandbox = ReplyingSandbox(course.lesson(LESSON), messages)

    @contextmanager
    def lend(_):
        yield sandbox, sandbox

    local._shared_sandboxes = SimpleNamespace(lend=lend)
    sanitize_folder(course.submission_folder(task), LESSON)
    local.run_and_store(course, task, store)
    result = store.up_to_date(task, course.versions(task))
    assert result is not None, store.read(task)
    notebook = nbformat.from_dict(result["notebook"])
    write_outputs(notebook, result)
    nbformat.writes(notebook).encode()
    return result


def remove(folder: Path) -> None:
    for path in (folder, *folder.rglob("*")):
        with suppress(OSError):
            path.chmod(0o700, follow_symlinks=True) if path.is_dir() and not path.is_symlink() else None
    shutil.rmtree(folder)


def expect_clean(folder: Path) -> None:
    """Expect what nbgrader can work with: plain files, a notebook, a time stamp that can be parsed."""
    paths = list(folder.rglob("*"))
    assert all(not path.is_symlink() and (path.is_file() or path.is_dir()) for path in paths)
    assert all(os.access(path, os.R_OK) and path.name.encode() for path in paths)
    assert (folder / NOTEBOOK).is_file()
    assert not (folder / STAMP).exists() or parse_stamp((folder / STAMP).read_bytes())
    before = {path: path.read_bytes() for path in paths if path.is_file()}
    sanitize_folder(folder, LESSON)
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


def run(examples, course, **strategies):
    """Grade a submission for each example, and after some of them the honest one."""
    shutil.rmtree(course.root / "submitted" / "hostile", ignore_errors=True)
    released = submit(course, "hostile")
    shutil.copytree(released, course.root / "handed_in")
    shared, turns = local._shared_sandboxes, itertools.count(1)

    @settings(max_examples=examples, derandomize=True, suppress_health_check=list(HealthCheck))
    @given(**strategies)
    def grade_one(**drawn):
        folder = course.root / "submitted" / "hostile" / LESSON
        remove(folder.parent)
        shutil.copytree(course.root / "handed_in", folder)
        mutate(folder / NOTEBOOK, drawn.get("changes", []), drawn.get("cut"))
        for making in drawn.get("makings", []):
            make(folder, *making)
        assert grade(course, "hostile", drawn.get("messages", []))["status"] != GRADER_FAULT
        expect_clean(folder)
        if next(turns) % HONEST_EVERY == 0:
            assert grade(course, "honest", [])["points"] == ALL_POINTS

    try:
        grade_one()
    finally:
        local._shared_sandboxes = shared


@EXAMPLES
def test_any_folder_is_graded(examples, course):
    run(examples, course, makings=st.lists(makings, max_size=8))


@EXAMPLES
def test_any_notebook_is_graded(examples, course):
    run(examples, course, changes=replacements, cut=cuts)


@EXAMPLES
def test_any_reply_is_judged(examples, course):
    run(examples, course, messages=st.lists(messages, min_size=1, max_size=7))
