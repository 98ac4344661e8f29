"""Kill or interrupt real commands, then run the same command again."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from data_setup.cli import main
from data_setup.create import shard
from data_setup.create.render import CHUNK
from data_setup.format.layout import FORMS, JPEGS, STAGING, StagingDirectory, image_name
from data_setup.format.locks import exclusive_lock
from data_setup.inspect.verify import find_problems
from tests.data_setup.faults.scenarios import begin
from tests.data_setup.file_content import files_of

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


def images_made(out):
    return len(list(StagingDirectory(out).jpegs.glob("*.JPEG")))


def wait_for_images(process, out, count):
    """Wait until a running command has written this many JPEG files."""
    while images_made(out) < count:
        assert process.poll() is None, f"the command ended early: {process.stderr.read()}"
        time.sleep(0.005)


def assert_nothing_half_made(out, whole):
    """Check that a final name exists only for a complete form, and the manifest only for a complete set."""
    for form in FORMS:
        if (out / form).exists():
            assert files_of(out / form) == files_of(whole / form)
    if (out / "manifest.json").exists():
        assert not [problem for problem in find_problems(out) if not problem.startswith(STAGING)]


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    out = tmp_path_factory.mktemp("many")
    assert main(["photos", "--count", MANY, "--out", str(out)]) == 0
    return out


@pytest.mark.proof
def test_command_ends_well_after_kills_at_random_points_of_its_work(many, tmp_path):
    rng, out = random.Random(0), tmp_path / "set"
    for _ in range(4):
        shutil.rmtree(StagingDirectory(out).jpegs, ignore_errors=True)  # counts the images of this run
        process = start_many(out)
        wait_for_images(process, out, rng.randint(1, int(MANY)))
        time.sleep(rng.uniform(0, 0.03))
        workers = psutil.Process(process.pid).children(recursive=True)
        process.kill()
        assert process.wait() == -signal.SIGKILL
        _, alive = psutil.wait_procs(workers, timeout=30)
        for worker in alive:
            worker.kill()
        assert not alive, "a worker outlived its killed command"
        process.stderr.close()
        assert_nothing_half_made(out, many)
    process = start_many(out)
    process.communicate()
    assert process.returncode == 0
    assert files_of(out) == files_of(many)


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """An unfinished set whose first shard is finished, and whose second was interrupted."""
    out = tmp_path_factory.mktemp("begun")
    begin(out, "--count", MANY, "--workers", "1")
    return out


@pytest.fixture
def unfinished(begun, tmp_path):
    return shutil.copytree(begun, tmp_path / "unfinished")


def finish(out):
    return main(["photos", "--count", MANY, "--out", str(out), "--workers", "1", "--shards", "2"])


@pytest.fixture(scope="module")
def in_two_shards(tmp_path_factory):
    out = tmp_path_factory.mktemp("in_two_shards")
    assert finish(out) == 0
    return out


def test_finished_shards_are_not_made_again(unfinished, in_two_shards):
    kept, again = f"{JPEGS}/{image_name(0)}", f"{JPEGS}/{image_name(int(MANY) - 1)}"
    before = {name: (unfinished / STAGING / name).stat().st_mtime_ns for name in (kept, again)}
    assert finish(unfinished) == 0
    assert (unfinished / kept).stat().st_mtime_ns == before[kept]
    assert (unfinished / again).stat().st_mtime_ns != before[again]
    assert files_of(unfinished) == files_of(in_two_shards)


@pytest.mark.parametrize(
    "damage",
    [
        lambda staging: (staging / "disk_transformed" / "img00000010.JPEG").write_bytes(b""),
        lambda staging: (staging / "disk_transformed" / "img00000010.JPEG").unlink(),
        lambda staging: (staging / "zip" / "part0.zip").write_bytes(b"truncated"),
        lambda staging: (staging / "zip_encoded" / "part0.zip").unlink(),
        *(
            lambda staging, text=text: (staging / "shard0.jsonl").write_bytes(text)
            for text in (b"", b"{}\n", b'{"images": 16, "ent', b"\0\0\0\n", b"\xff\n")
        ),
        lambda staging: os.truncate(staging / "shard0.jsonl", (staging / "shard0.jsonl").stat().st_size - 9),
    ],
)
def test_shard_that_is_incomplete_on_disk_is_made_again(unfinished, in_two_shards, damage):
    damage(unfinished / STAGING)
    assert finish(unfinished) == 0
    assert files_of(unfinished) == files_of(in_two_shards)


def test_other_options_do_not_touch_an_unfinished_set(unfinished, capsys):
    before = files_of(unfinished / STAGING)
    assert main(["photos", "--count", MANY, "--seed", "1", "--out", str(unfinished)]) == 1
    message = capsys.readouterr().err
    assert "seed 0" in message
    assert "seed 1" in message
    assert files_of(unfinished / STAGING) == before


def test_leftovers_of_a_kill_after_the_last_rename_are_removed(photo_set, tmp_path):
    out = shutil.copytree(photo_set, tmp_path / "set")
    (out / STAGING).mkdir()
    (out / STAGING / "shard0.jsonl").write_bytes(b"")
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
    wait_for_images(process, tmp_path / "set", 1)
    interrupt(process)
    _, message = process.communicate()
    assert (process.returncode, message[: len(expected)], message.count("\n")) == (code, expected, 1)
    assert main(["photos", "--count", MANY, "--out", str(tmp_path / "set")]) == 0
    assert files_of(tmp_path / "set") == files_of(many)


def test_shard_that_another_command_makes_is_refused(unfinished, in_two_shards, capsys):
    with exclusive_lock(StagingDirectory(unfinished).lock("shard1"), "shard 1"):
        assert finish(unfinished) == 1
    assert "another command is making shard 1 in" in capsys.readouterr().err
    assert finish(unfinished) == 0
    assert files_of(unfinished) == files_of(in_two_shards)


def run_at_once(commands):
    """Run commands; return their exit statuses, after checking that each failure is one line."""
    processes = [
        subprocess.Popen(
            [sys.executable, "-m", "data_setup", *arguments],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        for arguments in commands
    ]
    messages = [process.communicate()[1] for process in processes]
    codes = [process.returncode for process in processes]
    for code, message in zip(codes, messages, strict=True):
        assert (
            (code, message) == (0, "") or "another command is making" in message or "you asked for" in message
        )
        assert message.count("\n") <= 1
    return codes


def test_simultaneous_commands_do_not_corrupt_the_set(photo_set, tmp_path):
    assert 0 in run_at_once([command(tmp_path / "set")] * 3)
    assert files_of(tmp_path / "set") == files_of(photo_set)


def test_simultaneous_commands_with_other_seeds_make_one_of_the_sets(tmp_path):
    out = tmp_path / "set"
    codes = run_at_once([[*command(out), "--seed", str(seed)] for seed in range(3)])
    assert codes.count(0) == 1
    assert main([*command(tmp_path / "alone"), "--seed", str(codes.index(0))]) == 0
    assert files_of(out) == files_of(tmp_path / "alone")


def test_simultaneous_shards_with_other_seeds_make_one_of_the_sets(tmp_path):
    out = tmp_path / "set"
    shards = [[*command(out), "--shards", "2", "--shard", str(n), "--seed", str(n)] for n in range(2)]
    codes = run_at_once(shards)
    assert codes.count(0) == 1
    seed = str(codes.index(0))
    assert main([*command(out), "--shards", "2", "--seed", seed]) == 0
    assert main([*command(tmp_path / "alone"), "--shards", "2", "--seed", seed]) == 0
    assert files_of(out) == files_of(tmp_path / "alone")


def test_no_lock_is_held_open_in_the_folder_that_is_removed(unfinished, monkeypatch):
    """FUSE and NFS would rename it, and then refuse to remove the folder."""
    held = []
    remove = shutil.rmtree

    def spy(path, **options):
        open_files = [file.path for file in psutil.Process().open_files()]
        held.extend(file for file in open_files if STAGING + "/" in file)
        remove(path, **options)

    (unfinished / STAGING / "folder").mkdir()
    monkeypatch.setattr(shutil, "rmtree", spy)
    assert finish(unfinished) == 0
    assert held == []
    assert not (unfinished / STAGING).exists()


def test_leftover_of_a_network_filesystem_does_not_fail_the_command(unfinished, in_two_shards, monkeypatch):
    monkeypatch.setattr(shutil, "rmtree", lambda path, **options: None)
    (unfinished / STAGING / "kept").mkdir()
    assert finish(unfinished) == 0
    assert StagingDirectory(unfinished).plan.exists()
    monkeypatch.undo()
    assert finish(unfinished) == 0
    assert files_of(unfinished) == files_of(in_two_shards)
    assert not (unfinished / STAGING).exists()


@pytest.mark.parametrize("text", ['{"identity"', "[]", "7", '{"identity": {}, "classes": []}', "\\xff"])
def test_damaged_plan_is_reported(tmp_path, capsys, text):
    staging = StagingDirectory(tmp_path)
    staging.root.mkdir()
    staging.plan.write_bytes(text.encode().decode("unicode_escape").encode("latin-1"))
    for arguments in (command(tmp_path), ["merge", "--out", str(tmp_path)]):
        assert main(arguments) == 1
        assert "plan.json is damaged" in capsys.readouterr().err


@pytest.fixture
def packed(tmp_path):
    """A set whose only shard is finished, but that is not published."""
    out = tmp_path / "packed"
    assert main([*command(out), "--shard", "0"]) == 0
    return out


@pytest.mark.parametrize("how", ["merge", "resume"])
def test_file_that_a_power_cut_emptied_is_made_again(packed, photo_set, capsys, how):
    os.truncate(packed / STAGING / JPEGS / image_name(3), 0)
    if how == "merge":
        assert main(["merge", "--out", str(packed)]) == 1
        assert "1 of 1 shards are not finished yet: 0" in capsys.readouterr().err
    assert main(command(packed)) == 0
    assert files_of(packed) == files_of(photo_set)


def test_files_are_on_disk_before_the_record_that_names_them(tmp_path):
    calls = []
    with pytest.MonkeyPatch.context() as patch:
        sync = shard.sync_filesystem
        patch.setattr(shard, "sync_filesystem", lambda folder: calls.append("sync") or sync(folder))
        replace = Path.replace
        patch.setattr(Path, "replace", lambda one, to: calls.append(to.name) or replace(one, to))
        assert main(command(tmp_path)) == 0
    assert calls.index("sync") < calls.index("shard0.jsonl")
