"""Kill or interrupt real commands, then run the same command again."""

import random
import shutil
import signal
import subprocess
import sys
import time

import psutil
import pytest

from data_setup.cli import main
from data_setup.create.render import CHUNK
from data_setup.format.atomic import exclusive_lock
from data_setup.format.layout import FORMS, JPEGS, STAGING, StagingDirectory, image_name
from data_setup.inspect.verify import find_problems
from tests.data_setup.file_content import files_of, flip_bit

# Kills a command before its n-th rename: between renames its work is half done.
KILL_AT_RENAME = """
import os, pathlib, signal, sys
from data_setup.cli import main
left = int(sys.argv.pop(1))
def deadly(original):
    def rename(self, target):
        global left
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        left -= 1
        return original(self, target)
    return rename
pathlib.Path.rename = deadly(pathlib.Path.rename)
pathlib.Path.replace = deadly(pathlib.Path.replace)
sys.exit(main(sys.argv[1:]))
"""
RENAMES = ("plan", "summary", "labels", "manifest", *FORMS, "final manifest")
CHUNKS = 16
MANY = str(CHUNKS * CHUNK - CHUNK // 2)  # the last chunk is half full


def command(out, workers=1):
    return ["photos", "--count", "40", "--out", str(out), "--workers", str(workers)]


def start_many(out):
    """Start a command with two workers that makes `CHUNKS` chunks."""
    arguments = [
        sys.executable,
        "-m",
        "data_setup",
        "photos",
        "--count",
        MANY,
        "--workers",
        "2",
        "--out",
        out,
    ]
    return subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def finished_chunks(out):
    journal = StagingDirectory(out).journal(0)
    return journal.read_bytes().count(b"\n") if journal.exists() else 0


def wait_for_chunks(process, out, count):
    """Wait until the journal of a running command has this many chunks."""
    while finished_chunks(out) < count:
        assert process.poll() is None, f"the command ended early: {process.stderr.read()}"
        time.sleep(0.005)


def assert_nothing_half_made(out, whole):
    """Check that a final name exists only for a complete form, and the manifest only for a complete set."""
    for form in FORMS:
        if (out / form).exists():
            assert files_of(out / form) == files_of(whole / form)
    if (out / "manifest.json").exists():
        assert not [problem for problem in find_problems(out) if not problem.startswith(STAGING)]


@pytest.mark.parametrize("number", range(len(RENAMES)), ids=RENAMES)
def test_command_resumes_after_kill_before_each_rename(photo_set, tmp_path, number):
    arguments = [sys.executable, "-c", KILL_AT_RENAME, str(number), *command(tmp_path)]
    assert subprocess.run(arguments, stdout=subprocess.DEVNULL).returncode == -signal.SIGKILL
    assert_nothing_half_made(tmp_path, photo_set)
    assert main(command(tmp_path)) == 0
    assert files_of(tmp_path) == files_of(photo_set)


def test_list_of_renames_is_complete(photo_set, tmp_path):
    arguments = [sys.executable, "-c", KILL_AT_RENAME, str(len(RENAMES)), *command(tmp_path)]
    assert subprocess.run(arguments, stdout=subprocess.DEVNULL).returncode == 0
    assert files_of(tmp_path) == files_of(photo_set)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    out = tmp_path_factory.mktemp("many")
    assert main(["photos", "--count", MANY, "--out", str(out)]) == 0
    return out


def test_command_resumes_after_kills_at_random_points_of_its_work(many, tmp_path):
    rng, out = random.Random(0), tmp_path / "set"
    for _ in range(3):
        # More chunks than an earlier run left: this run has rendered, packed and recorded some itself.
        enough = finished_chunks(out) + rng.randint(1, 2)
        process = start_many(out)
        wait_for_chunks(process, out, enough)
        time.sleep(rng.uniform(0, 0.03))
        workers = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        assert len(workers) >= 2
        _, alive = psutil.wait_procs(workers, timeout=30)
        for worker in alive:
            worker.kill()
        assert not alive, "a worker outlived its killed command"
        process.stderr.close()
        assert_nothing_half_made(out, many)
    assert 0 < finished_chunks(out) <= CHUNKS
    process = start_many(out)
    process.communicate()
    assert process.returncode == 0
    assert files_of(out) == files_of(many)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """An unfinished set whose journal has one chunk and half a line."""
    out = tmp_path_factory.mktemp("begun")
    arguments = [sys.executable, "-c", KILL_AT_RENAME, "1", "photos", "--count", MANY, "--workers", "1"]
    done = subprocess.run([*arguments, "--out", out], stdout=subprocess.DEVNULL)
    assert done.returncode == -signal.SIGKILL
    journal = StagingDirectory(out).journal(0)
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == CHUNKS
    journal.write_bytes(lines[0] + lines[1][:100])
    return out


@pytest.fixture
def unfinished(begun, tmp_path):
    return shutil.copytree(begun, tmp_path / "unfinished")


def finish(out):
    return main(["photos", "--count", MANY, "--out", str(out), "--workers", "1"])


def test_finished_chunks_are_not_made_again(unfinished, many):
    kept, again = f"{JPEGS}/{image_name(CHUNK - 1)}", f"{JPEGS}/{image_name(CHUNK)}"
    before = {name: (unfinished / STAGING / name).stat().st_mtime_ns for name in (kept, again)}
    assert finish(unfinished) == 0
    assert (unfinished / kept).stat().st_mtime_ns == before[kept]
    assert (unfinished / again).stat().st_mtime_ns != before[again]
    assert files_of(unfinished) == files_of(many)


@pytest.mark.parametrize(
    "damage",
    [
        lambda staging: flip_bit(staging / "disk_transformed" / "img00000010.JPEG", -1),
        lambda staging: (staging / "disk_transformed" / "img00000010.JPEG").unlink(),
        lambda staging: (staging / "zip" / "part0.zip").write_bytes(b"truncated"),
        lambda staging: (staging / "zip_encoded" / "part0.zip").unlink(),
    ],
    ids=["JPEG changed", "JPEG missing", "raw archive truncated", "encoded archive missing"],
)
def test_chunk_that_is_incomplete_on_disk_is_made_again(unfinished, many, damage):
    damage(unfinished / STAGING)
    assert finish(unfinished) == 0
    assert files_of(unfinished) == files_of(many)


def test_other_options_do_not_touch_an_unfinished_set(unfinished, capsys):
    before = files_of(unfinished)
    assert main(["photos", "--count", MANY, "--seed", "1", "--out", str(unfinished)]) == 1
    message = capsys.readouterr().err
    assert "seed 0" in message
    assert "seed 1" in message
    assert files_of(unfinished) == before


def test_leftovers_of_a_kill_after_the_last_rename_are_removed(photo_set, tmp_path):
    out = shutil.copytree(photo_set, tmp_path / "set")
    (out / STAGING).mkdir()
    (out / STAGING / "shard0.journal").write_bytes(b"")
    assert main(command(out)) == 0
    assert files_of(out) == files_of(photo_set)
    assert not (out / STAGING).exists()


def kill_workers(process):
    for child in psutil.Process(process.pid).children():
        child.kill()


@pytest.mark.parametrize(
    ("interrupt", "code", "expected"),
    [
        (
            lambda process: process.send_signal(signal.SIGINT),
            130,
            "data_setup: interrupted; run the same command again to resume",
        ),
        (kill_workers, 1, "data_setup: a worker process was killed"),
    ],
    ids=["Ctrl-C", "workers killed"],
)
def test_interrupted_command_reports_in_one_line_how_to_resume(tmp_path, many, interrupt, code, expected):
    process = start_many(tmp_path / "set")
    wait_for_chunks(process, tmp_path / "set", 1)
    interrupt(process)
    _, message = process.communicate()
    assert (process.returncode, message[: len(expected)], message.count("\n")) == (code, expected, 1)
    assert finish(tmp_path / "set") == 0
    assert files_of(tmp_path / "set") == files_of(many)


def test_shard_that_another_command_makes_is_refused(unfinished, many, capsys):
    with exclusive_lock(StagingDirectory(unfinished).lock("shard0"), "shard 0"):
        assert finish(unfinished) == 1
    assert "another command is making shard 0 in" in capsys.readouterr().err
    assert finish(unfinished) == 0
    assert files_of(unfinished) == files_of(many)


def test_simultaneous_commands_do_not_corrupt_the_set(photo_set, tmp_path):
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "data_setup", *command(tmp_path / "set")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    messages = [process.communicate()[1] for process in both]
    codes = [process.returncode for process in both]
    assert 0 in codes
    for code, message in zip(codes, messages, strict=True):
        assert code == 0 or message.startswith("data_setup: ")
    assert files_of(tmp_path / "set") == files_of(photo_set)
