"""Commands that are killed with SIGKILL, for real, and the same command again."""

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
from data_setup.format.layout import FORMS, JPEGS, STAGE, image_name
from data_setup.inspect.verify import problems
from tests.data_setup.create.test_builder import files_of

# Counts a program's own renames, between which its work is half done, and kills it before the n-th.
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


MANY = str(31 * CHUNK // 2)  # sixteen chunks: workers are killed after the first, while there is work left


def command(out, workers=1):
    return ["photos", "--count", "40", "--out", str(out), "--workers", str(workers)]


def assert_nothing_half_made(out, whole):
    """What stands under a final name is all of it; a manifest stands only for a whole set."""
    for form in FORMS:
        if (out / form).exists():
            assert files_of(out / form) == files_of(whole / form)
    if (out / "manifest.json").exists():
        assert not [p for p in problems(out) if not p.startswith(STAGE)]


@pytest.mark.parametrize("number", range(len(RENAMES)), ids=RENAMES)
def test_killed_before_a_rename_the_same_command_finishes(photo_set, tmp_path, number):
    arguments = [sys.executable, "-c", KILL_AT_RENAME, str(number), *command(tmp_path)]
    assert subprocess.run(arguments, stdout=subprocess.DEVNULL).returncode == -9
    assert_nothing_half_made(tmp_path, photo_set)
    assert main(command(tmp_path)) == 0
    assert files_of(tmp_path) == files_of(photo_set)


def test_those_were_all_renames(photo_set, tmp_path):
    arguments = [sys.executable, "-c", KILL_AT_RENAME, str(len(RENAMES)), *command(tmp_path)]
    assert subprocess.run(arguments, stdout=subprocess.DEVNULL).returncode == 0
    assert files_of(tmp_path) == files_of(photo_set)


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    out = tmp_path_factory.mktemp("many")
    assert main(["photos", "--count", MANY, "--out", str(out)]) == 0
    return out


def test_killed_at_random_moments_until_it_is_done(many, tmp_path):
    rng = random.Random(0)
    arguments = [sys.executable, "-m", "data_setup", "photos", "--count", MANY, "--workers", "2"]
    for _ in range(3):
        process = subprocess.Popen([*arguments, "--out", tmp_path / "set"], stdout=subprocess.DEVNULL)
        time.sleep(rng.uniform(0.2, 1.0))
        family = [process, *psutil.Process(process.pid).children(recursive=True)]
        process.kill()
        process.wait()
        assert_nothing_half_made(tmp_path / "set", many)
        _, alive = psutil.wait_procs(family[1:], timeout=30)
        assert not alive, "a worker outlived its killed command"
    assert subprocess.run([*arguments, "--out", tmp_path / "set"], stdout=subprocess.DEVNULL).returncode == 0
    assert files_of(tmp_path / "set") == files_of(many)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """A set of which one chunk is in the journal, and half of another line."""
    out = tmp_path_factory.mktemp("begun")
    arguments = [sys.executable, "-c", KILL_AT_RENAME, "1", "photos", "--count", MANY, "--workers", "1"]
    assert subprocess.run([*arguments, "--out", out], stdout=subprocess.DEVNULL).returncode == -9
    journal = out / STAGE / "shard0.journal"
    lines = journal.read_bytes().splitlines(keepends=True)
    assert len(lines) == 16
    journal.write_bytes(lines[0] + lines[1][:100])
    return out


@pytest.fixture
def half_made(begun, tmp_path):
    return shutil.copytree(begun, tmp_path / "half")


def finish(out):
    return main(["photos", "--count", MANY, "--out", str(out), "--workers", "1"])


def flip_last_byte_of(path):
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


def test_finished_chunks_are_not_made_again(half_made, many):
    kept, again = f"{JPEGS}/{image_name(CHUNK - 1)}", f"{JPEGS}/{image_name(CHUNK)}"
    before = {name: (half_made / STAGE / name).stat().st_mtime_ns for name in (kept, again)}
    assert finish(half_made) == 0
    assert (half_made / kept).stat().st_mtime_ns == before[kept]
    assert (half_made / again).stat().st_mtime_ns != before[again]
    assert files_of(half_made) == files_of(many)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda stage: flip_last_byte_of(stage / "disk_transformed" / "img00000010.JPEG"),
        lambda stage: (stage / "disk_transformed" / "img00000010.JPEG").unlink(),
        lambda stage: (stage / "zip" / "part0.zip").write_bytes(b"cut off"),
        lambda stage: (stage / "zip_encoded" / "part0.zip").unlink(),
    ],
    ids=["a JPEG changed", "a JPEG gone", "raw archive cut", "encoded archive gone"],
)
def test_a_chunk_that_did_not_reach_the_disk_is_made_again(half_made, many, spoil):
    spoil(half_made / STAGE)
    assert finish(half_made) == 0
    assert files_of(half_made) == files_of(many)


def test_other_options_do_not_touch_a_half_made_set(half_made, capsys):
    before = files_of(half_made)
    assert main(["photos", "--count", MANY, "--seed", "1", "--out", str(half_made)]) == 1
    said = capsys.readouterr().err
    assert "seed 0" in said
    assert "seed 1" in said
    assert files_of(half_made) == before


def test_killed_after_its_last_rename_a_command_leaves_nothing_for_ever(photo_set, tmp_path):
    out = shutil.copytree(photo_set, tmp_path / "set")
    (out / STAGE).mkdir()
    (out / STAGE / "shard0.journal").write_bytes(b"")
    assert main(command(out)) == 0
    assert files_of(out) == files_of(photo_set)
    assert not (out / STAGE).exists()


def interrupted(out, interrupt):
    """Begin a set with two workers, interrupt it after its first chunk; returns exit code and message."""
    arguments = [sys.executable, "-m", "data_setup", "photos", "--count", MANY, "--workers", "2"]
    process = subprocess.Popen(
        [*arguments, "--out", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    journal = out / STAGE / "shard0.journal"
    while process.poll() is None and not (journal.exists() and journal.stat().st_size):
        time.sleep(0.005)
    interrupt(process)
    return process.communicate()[1], process.returncode


def kill_workers(process):
    for child in psutil.Process(process.pid).children():
        child.kill()


@pytest.mark.parametrize(
    ("interrupt", "code", "message"),
    [
        (
            lambda process: process.send_signal(signal.SIGINT),
            130,
            "data_setup: stopped; the same command goes on",
        ),
        (kill_workers, 1, "data_setup: a worker process was killed"),
    ],
    ids=["Ctrl-C", "workers killed"],
)
def test_an_interrupted_command_says_in_a_line_how_to_go_on(tmp_path, many, interrupt, code, message):
    said, returned = interrupted(tmp_path / "set", interrupt)
    assert (returned, said[: len(message)], said.count("\n")) == (code, message, 1)
    assert finish(tmp_path / "set") == 0
    assert files_of(tmp_path / "set") == files_of(many)


def test_two_commands_at_once_do_not_mix(photo_set, tmp_path):
    both = [
        subprocess.Popen(
            [sys.executable, "-m", "data_setup", *command(tmp_path / "set")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for _ in range(2)
    ]
    said = [process.communicate()[1] for process in both]
    codes = [process.returncode for process in both]
    assert 0 in codes
    for code, message in zip(codes, said, strict=True):
        assert code == 0 or message.startswith("data_setup: ")
    assert files_of(tmp_path / "set") == files_of(photo_set)
