"""Answers to exercises of lesson 02 that waste operations, share handles or copy memory, and hide it."""

from dataclasses import dataclass

from tests.bank import answer

LESSON = "multi_worker_handles"


@dataclass(frozen=True)
class Forgery:
    """A wrong answer that hides its mistake.

    Attributes:
        check: The exercise.
        name: How it hides.
        source: The answer.
        mistakes: The mistakes of which one must be found.
        lesson: The lesson.
    """

    check: str
    name: str
    source: str
    mistakes: tuple[str, ...]
    lesson: str = "02_multi_worker_handles"

    def __str__(self) -> str:
        return f"{self.check}-{self.name}"


def _wrong(check: str, name: str, hide: str, wrong: str, mistake: str) -> Forgery:
    """A wrong answer of the bank, after code that hides what it does."""
    return Forgery(check, name, f"{hide}\n{answer(LESSON, check, wrong).source}", (mistake,))


BLIND_RECORDER = """
from course_utils.checks.core import file_recorder
file_recorder._Recorder.record = lambda *_, **__: None
"""
LYING_PROBE = """
from course_utils.checks import multi_worker_handles
check = multi_worker_handles.operations_budget
honest = check.run_probe

def run_probe(*arguments, **more):
    from course_utils.checks.core import evidence
    return evidence.encode({**evidence.decode(honest(*arguments, **more)), "files": "[]"})

object.__setattr__(check, "run_probe", run_probe)
"""
LYING_EVIDENCE = """
from course_utils.checks.core import evidence
honest = evidence.encode
evidence.encode = lambda value: honest({**value, "files": "[]"} if isinstance(value, dict) and "files" in value else value)
"""
BELOW_PYTHON = """
import ctypes, os, zipfile
real, libc = zipfile.ZipFile, ctypes.CDLL(None)

def opened_by_the_c_library(path, *more):
    return real(os.fdopen(libc.open(str(path).encode(), os.O_RDONLY), "rb"), *more)

zipfile.ZipFile = opened_by_the_c_library
"""
HARD_LINKS = """
import itertools, os, zipfile
real, numbers = zipfile.ZipFile, itertools.count()

def through_a_link(path, *more):
    link = f"{path}.{next(numbers)}"
    try:
        os.link(path, link)
    except OSError:
        link = path
    return real(link, *more)

zipfile.ZipFile = through_a_link
"""
RENAMES = HARD_LINKS.replace("os.link", "os.rename")
BY_DESCRIPTOR = """
import os, zipfile
real, kept = zipfile.ZipFile, {}

def reopened(path, *more):
    descriptor = kept.setdefault(path, os.open(path, os.O_RDONLY))
    return real(f"/proc/self/fd/{descriptor}", *more)

zipfile.ZipFile = reopened
"""
IN_A_CHILD = """
import io, os, zipfile
real = zipfile.ZipFile

def read_by_a_child(path, *more):
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.close(reader)
        with open(path, "rb") as file, os.fdopen(writer, "wb") as pipe:
            pipe.write(file.read())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.wait()
    return real(io.BytesIO(data), *more)

zipfile.ZipFile = read_by_a_child
"""
BY_POSIX_SPAWN = IN_A_CHILD.replace("if os.fork() == 0:", "if spawn(path, writer):").replace(
    "def read_by",
    """def spawn(path, writer):
    os.posix_spawn("/bin/cat", ["cat", str(path)], {}, file_actions=[(os.POSIX_SPAWN_DUP2, writer, 1)])

def read_by""",
)
SAMPLE = "        data = self.handles[key].read(name)\n"
SILENT_LSEEK = """
import course_utils.system.open_files as open_files
open_files.os.lseek = lambda *_: 0
"""
KEPT = """        self.handles = {}
        self.fd, self.labels_fd = os.open(folder, os.O_RDONLY), os.open(folder / "labels.json", os.O_RDONLY)
        self.labels = json.loads(os.pread(self.labels_fd, 100_000, 0))
"""


def _sample_after(name: str, statement: str, mistake: str) -> Forgery:
    """A right answer that executes one more statement for each sample."""
    source = answer(LESSON, "operations_budget", "right_handles_by_process_and_shard").source
    changes = {
        '        self.labels = json.loads((folder / "labels.json").read_text())\n': "",
        "        self.handles = {}\n": KEPT,
        SAMPLE: f"        {statement}\n{SAMPLE}",
    }
    for old, new in changes.items():
        assert source.count(old) == 1
        source = source.replace(old, new)
    return Forgery("operations_budget", name, source, (mistake,))


HIDDEN_OPENINGS = {
    "lying_probe": LYING_PROBE,
    "blind_recorder": BLIND_RECORDER,
    "lying_evidence": LYING_EVIDENCE,
    "below_python": BELOW_PYTHON,
    "hard_links": HARD_LINKS,
    "renames": RENAMES,
    "reopened_by_descriptor": BY_DESCRIPTOR,
}
FORGERIES = [
    *(
        _wrong("operations_budget", name, hide, "wrong_opens_for_each_sample", "opens_per_sample")
        for name, hide in HIDDEN_OPENINGS.items()
    ),
    _wrong("operations_budget", "child", IN_A_CHILD, "wrong_opens_for_each_sample", "command_per_sample"),
    _wrong("operations_budget", "spawn", BY_POSIX_SPAWN, "wrong_opens_for_each_sample", "command_per_sample"),
    _sample_after("lists_by_descriptor", "os.listdir(self.fd)", "lists_again"),
    _sample_after("stat_in_folder", "os.stat(self.shard_of[name].name, dir_fd=self.fd)", "looks_per_sample"),
    _sample_after("access", "os.access(self.shard_of[name], os.R_OK)", "looks_per_sample"),
    _sample_after("labels_kept_open", "os.pread(self.labels_fd, 100_000, 0)", "reads_labels_again"),
    _wrong("handle_per_process", "lseek", SILENT_LSEEK, "wrong_one_handle_for_all", "shared_handle"),
    _wrong("handle_per_process", "recorder", BLIND_RECORDER, "wrong_one_handle_for_all", "shared_handle"),
]
