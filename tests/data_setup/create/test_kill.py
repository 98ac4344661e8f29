"""Kill or interrupt a command at any moment, or cut the power: the next one makes the whole set."""

import filecmp
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from data_setup.cli import main
from data_setup.create.render import CHUNK
from data_setup.create.staging import Staging
from data_setup.format.layout import FORMS, JPEGS, MANIFEST, STAGING, image_name
from data_setup.inspect.verify import find_problems
from tests.data_setup.file_content import files_of

COUNT = 12 * CHUNK - CHUNK // 2  # the last chunk is half full


def command(out, *options):
    return ["photos", "--count", str(COUNT), "--shards", "3", "--out", str(out), *options]


def start(*arguments):
    code = [sys.executable, "-m", "data_setup", *arguments]
    return subprocess.Popen(code, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)


def wait_for_images(process, out, count):
    """Wait until a running command has written this many JPEG files."""
    while len(list(Staging(out).jpegs.glob("*.JPEG"))) < count:
        assert process.poll() is None, f"the command ended early: {process.stderr.read()}"
        time.sleep(0.005)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    assert main(command(out)) == 0
    return out


@pytest.fixture(scope="module")
def begun(tmp_path_factory):
    """An unfinished set, two of whose shards are finished, and whose second was interrupted."""
    out = tmp_path_factory.mktemp("begun")
    for shard in "012":
        assert main(command(out, "--shard", shard)) == 0
    staging = Staging(out)
    staging.record(1).unlink()
    os.truncate(staging.part("zip", 1), 1000)
    return out


@pytest.fixture
def unfinished(begun, tmp_path):
    return shutil.copytree(begun, tmp_path / "unfinished")


def without_indexes(form):
    """Return the files of a form without its indexes, which come last, and which readers can do without."""
    return {name: content for name, content in files_of(form).items() if ".index.npy" not in name}


def assert_nothing_half_made(out, whole):
    """Check that a final name exists only for a complete form, and the manifest only for a complete set."""
    for form in FORMS:
        if (out / form).exists():
            assert without_indexes(out / form) == without_indexes(whole / form)
    if (out / MANIFEST).exists():
        assert not [problem for problem in find_problems(out) if not problem.startswith(STAGING)]


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.proof) for seed in range(1, 6))])
def test_set_is_whole_after_kills_at_random_moments(whole, tmp_path, seed):
    rng, out = random.Random(seed), tmp_path / "set"
    for _ in range(3):
        process = start(*command(out, "--workers", "2"))
        while process.poll() is None and not Staging(out).plan.exists():
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 1))
        workers = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
        process.kill()
        assert process.wait() in (0, -signal.SIGKILL)
        process.stderr.close()
        _, alive = psutil.wait_procs(workers, timeout=30)
        assert not alive, "a worker outlived its killed command"
        assert_nothing_half_made(out, whole)
    assert main(command(out)) == 0
    assert files_of(out) == files_of(whole)


@contextmanager
def mounted(image, folder):
    """Mount an ext4 file system that lies in a file; skip the test where that is impossible."""
    folder.mkdir(exist_ok=True)
    done = subprocess.run(["mount", "-o", "loop", image, folder], capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"mounting an image needs root: {done.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def copy_moment(disk, cut):
    """Copy what a disk holds at one moment: the kernel may write to it while a copy is being made."""
    shutil.copy(disk, cut)
    while not filecmp.cmp(disk, cut, shallow=False):
        shutil.copy(disk, cut)


@pytest.mark.skipif(not shutil.which("mkfs.ext4"), reason="needs mkfs.ext4")
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.proof) for seed in range(1, 6))])
def test_set_is_whole_after_power_cuts_at_random_moments(whole, tmp_path, seed):
    """What the disk holds while the command stands still is what a power cut would leave."""
    rng, disk, cut = random.Random(seed), tmp_path / "disk", tmp_path / "cut"
    with disk.open("wb") as file:
        file.truncate(128 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", disk], check=True)
    with (
        mounted(disk, tmp_path / "mounted") as folder,
        start(*command(folder / "set", "--workers", "1")) as process,
    ):
        while process.poll() is None:
            time.sleep(rng.uniform(0, 0.8))
            process.send_signal(signal.SIGSTOP)
            copy_moment(disk, cut)
            process.send_signal(signal.SIGCONT)
            with mounted(cut, tmp_path / "again") as again:
                if (again / "set").exists():
                    assert_nothing_half_made(again / "set", whole)
                assert main(command(again / "set")) == 0
                assert files_of(again / "set") == files_of(whole)
        assert process.returncode == 0
        copy_moment(disk, cut)
    with mounted(cut, tmp_path / "again") as again:
        assert files_of(again / "set") == files_of(whole)


@pytest.mark.parametrize(
    ("interrupt", "code", "expected"),
    [
        (
            lambda process: process.send_signal(signal.SIGINT),
            130,
            "data_setup: interrupted; run the same command again to resume",
        ),
        (
            lambda process: [child.kill() for child in psutil.Process(process.pid).children()],
            1,
            "data_setup: a worker process was killed",
        ),
    ],
    ids=["Ctrl-C", "workers killed"],
)
def test_interrupted_command_reports_in_one_line_how_to_resume(tmp_path, whole, interrupt, code, expected):
    process = start(*command(tmp_path / "set", "--workers", "2"))
    wait_for_images(process, tmp_path / "set", 1)
    interrupt(process)
    _, message = process.communicate()
    assert (process.returncode, message[: len(expected)], message.count("\n")) == (code, expected, 1)
    assert main(command(tmp_path / "set")) == 0
    assert files_of(tmp_path / "set") == files_of(whole)


def test_finished_shards_are_not_made_again(unfinished, whole):
    kept, again = (f"{JPEGS}/{image_name(slot)}" for slot in (0, COUNT // 2))
    before = {name: (unfinished / STAGING / name).stat().st_mtime_ns for name in (kept, again)}
    assert main(command(unfinished)) == 0
    assert (unfinished / kept).stat().st_mtime_ns == before[kept]
    assert (unfinished / again).stat().st_mtime_ns != before[again]
    assert files_of(unfinished) == files_of(whole)


def test_other_options_do_not_touch_an_unfinished_set(unfinished, capsys):
    before = files_of(unfinished / STAGING)
    assert main(command(unfinished, "--seed", "1")) == 1
    message = capsys.readouterr().err
    assert "seed 0" in message
    assert "seed 1" in message
    assert files_of(unfinished / STAGING) == before


@pytest.mark.parametrize("text", [b'{"source"', b"[]", b"7", b"\xff"])
def test_damaged_plan_is_reported(unfinished, capsys, text):
    Staging(unfinished).plan.write_bytes(text)
    assert main(command(unfinished)) == 1
    assert "unfinished" in capsys.readouterr().err


def test_leftovers_of_a_kill_after_the_last_rename_are_removed(whole, tmp_path):
    out = shutil.copytree(whole, tmp_path / "set")
    Staging(out).jpegs.mkdir(parents=True)
    Staging(out).record(0).write_bytes(b"")
    assert main(command(out)) == 0
    assert files_of(out) == files_of(whole)
    assert not (out / STAGING).exists()


def test_files_are_on_disk_before_the_record_that_names_them(tmp_path, monkeypatch):
    calls = []
    for module, name in (("shard", "sync_filesystem"), ("publish", "sync_folder")):
        monkeypatch.setattr(
            f"data_setup.create.{module}.{name}", lambda folder: calls.append(str(folder.name))
        )
    for name in ("replace", "rename"):
        original = getattr(Path, name)
        monkeypatch.setattr(
            Path, name, lambda one, to, original=original: calls.append(to.name) or original(one, to)
        )
    assert main(["photos", "--count", "5", "--workers", "1", "--out", str(tmp_path / "set")]) == 0
    in_order = [STAGING, "shard0.json", MANIFEST, *FORMS, "set", MANIFEST, "set"]
    assert [call for call in calls if call in in_order] == in_order


def run_at_once(commands):
    """Run commands; return their exit statuses, after checking that each failure is one line."""
    processes = [start(*arguments) for arguments in commands]
    messages = [process.communicate()[1] for process in processes]
    codes = [process.returncode for process in processes]
    for code, message in zip(codes, messages, strict=True):
        known = "another command is making" in message or "you asked for" in message
        assert (code, message) == (0, "") or (known and message.count("\n") == 1)
    return codes


@pytest.mark.parametrize("seeds", ["000", "012"])
def test_simultaneous_commands_make_one_set(tmp_path, seeds):
    short = ["photos", "--count", "40", "--workers", "1", "--out"]
    codes = run_at_once([[*short, str(tmp_path / "set"), "--seed", seed] for seed in seeds])
    assert 0 in codes
    assert main([*short, str(tmp_path / "alone"), "--seed", seeds[codes.index(0)]]) == 0
    assert files_of(tmp_path / "set") == files_of(tmp_path / "alone")


def test_shard_that_another_command_makes_is_refused(unfinished, whole, capsys):
    process = start(*command(unfinished, "--shard", "1", "--workers", "1"))
    lock = Staging(unfinished).root / "shard1.lock"
    while not lock.exists():
        assert process.poll() is None
        time.sleep(0.005)
    process.send_signal(signal.SIGSTOP)
    for options in (["--shard", "1"], []):
        assert main(command(unfinished, *options)) == 1
        assert "another command is making" in capsys.readouterr().err
    process.send_signal(signal.SIGCONT)
    assert process.wait() == 0
    process.stderr.close()
    assert main(command(unfinished)) == 0
    assert files_of(unfinished) == files_of(whole)
