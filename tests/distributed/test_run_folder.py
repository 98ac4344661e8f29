"""A folder of a run: one job at a time, checkpoints that are whole, and a mark that tells the truth."""

import random
import subprocess
import sys
from dataclasses import replace

import pytest
import torch

from course_utils.distributed import train
from course_utils.distributed.checkpoint import CheckpointError, load_checkpoint, save_checkpoint
from course_utils.distributed.numbered_pack import write_numbered_pack
from course_utils.distributed.ranks import World
from course_utils.distributed.record import Record, samples_of
from course_utils.distributed.run_folder import FolderInUseError, RunFolder
from course_utils.distributed.torchrun import RanksFailedError, run_ranks
from course_utils.distributed.training import Training, TrainingJob

IMAGES = 60
HOLDER = """
import sys
from pathlib import Path
from course_utils.distributed.run_folder import RunFolder
held = RunFolder(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    return write_numbered_pack(tmp_path_factory.mktemp("pack") / "part0.zip", IMAGES, size=8)


@pytest.fixture
def job(pack, tmp_path):
    return TrainingJob(pack, tmp_path / "run", batch_size=8, size=6, record=True)


def stopped_after(steps):
    asked = iter(range(1, 1000))
    return lambda: next(asked) >= steps


def content(checkpoint):
    tensors = {name: value.tolist() for name, value in checkpoint["model"].items()}
    momentum = {
        key: value["momentum_buffer"].tolist() for key, value in checkpoint["optimizer"]["state"].items()
    }
    generators = [state.tolist() for state in checkpoint["generators"]]
    return tensors, momentum, checkpoint["optimizer"]["param_groups"], checkpoint["loader"], generators


def test_any_flipped_bit_of_a_checkpoint_is_harmless_or_refused(job, tmp_path):
    Training(job, World()).run(stopped_after(1))
    path = job.folder / "checkpoint.pt"
    whole, expected = path.read_bytes(), content(load_checkpoint(path))
    rng, refused = random.Random(0), 0
    damaged = tmp_path / "damaged.pt"
    for _ in range(150):
        data = bytearray(whole)
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
        damaged.write_bytes(data)
        try:
            found = content(load_checkpoint(damaged))
        except CheckpointError:
            refused += 1
        else:
            assert found == expected
    assert refused > 100


def test_every_truncated_checkpoint_is_refused(tmp_path):
    path = tmp_path / "checkpoint.pt"
    save_checkpoint(path, {"model": {"a": torch.ones(9)}, "optimizer": {}, "loader": {}, "generators": []})
    whole = path.read_bytes()
    for size in range(0, len(whole), 7):
        path.write_bytes(whole[:size])
        with pytest.raises(CheckpointError, match="remove it to train from the beginning"):
            load_checkpoint(path)


def test_command_says_that_a_checkpoint_is_damaged(job, capsys):
    job.folder.mkdir()
    (job.folder / "checkpoint.pt").write_bytes(b"nothing")
    for option in ([], ["--dry-run"]):
        assert train.main([str(job.pack), "--folder", str(job.folder), *option]) == 1
        assert "checkpoint.pt is damaged" in capsys.readouterr().err


def test_second_job_in_a_folder_is_refused_until_the_first_has_ended(job, capsys):
    script = (
        "import sys; from pathlib import Path; from course_utils.distributed.run_folder import RunFolder; "
    )
    script += "held = RunFolder(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", script, job.folder]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(FolderInUseError, match=f"process {holder.pid} on .* trains in this folder"):
            Training(job, World())
        assert train.main([str(job.pack), "--folder", str(job.folder)]) == 1
        assert "give another --folder" in capsys.readouterr().err
        holder.kill()
    assert Training(job, World()).run()


def test_folder_without_locks_is_used(tmp_path, monkeypatch):
    def refuse(descriptor, operation):
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr("fcntl.lockf", refuse)
    assert RunFolder(tmp_path).load() is None


def test_mark_of_a_shorter_training_does_not_end_a_longer_one(job):
    assert Training(job, World()).run()
    mark = job.folder / "complete"
    assert mark.exists()
    longer = Training(replace(job, epochs=2), World())
    assert not mark.exists()
    assert not longer.run(stopped_after(2))
    assert not mark.exists()
    assert Training(replace(job, epochs=2), World()).run()
    assert mark.exists()


def test_mark_without_its_checkpoint_is_removed(job):
    job.folder.mkdir()
    (job.folder / "complete").touch()
    Training(job, World())
    assert not (job.folder / "complete").exists()


def test_learning_rate_is_that_of_the_checkpoint_unless_another_is_given(job):
    Training(replace(job, learning_rate=0.125), World()).run(stopped_after(1))

    def rate(job):
        return Training(job, World()).optimizer.param_groups[0]["lr"]

    assert rate(job) == 0.125
    assert rate(replace(job, learning_rate=0.5)) == 0.5
    assert rate(replace(job, folder=job.folder / "new")) == 0.01


def test_checkpoint_of_other_samples_is_refused_before_the_record_changes(job, tmp_path):
    Training(job, World()).run(stopped_after(2))
    before = Record(job.folder / "record.jsonl").steps()
    other = write_numbered_pack(tmp_path / "other.zip", IMAGES - 1, size=8)
    with pytest.raises(ValueError, match="belongs to another loader"):
        Training(replace(job, pack=other), World())
    assert Record(job.folder / "record.jsonl").steps() == before


@pytest.mark.slow
def test_rank_that_does_not_see_the_checkpoint_resumes_with_the_others(pack, tmp_path):
    start = TrainingJob(pack, tmp_path / "0", batch_size=8, record=True)
    Training(start, World()).run(stopped_after(3))
    assert "complete" in run_ranks("tests.distributed.rank_with_folder", [tmp_path, pack])
    steps = Record(tmp_path / "0" / "record.jsonl").steps()
    assert sorted(samples_of(steps)) == list(range(IMAGES))
    assert not (tmp_path / "1").exists()


@pytest.mark.proof
def test_ranks_with_other_samples_end_at_once(pack, tmp_path):
    other = write_numbered_pack(tmp_path / "other.zip", IMAGES - 1, size=8)
    with pytest.raises(RanksFailedError, match="rank 1 has other settings or samples than rank 0"):
        run_ranks("tests.distributed.rank_with_folder", [tmp_path, pack, other], limit=120)


@pytest.mark.proof
def test_rank_without_its_pack_ends_the_others_at_once(pack, tmp_path):
    with pytest.raises(RanksFailedError, match=r"No such file .*none\.zip"):
        run_ranks("tests.distributed.rank_with_folder", [tmp_path, pack, tmp_path / "none.zip"], limit=120)


@pytest.mark.parametrize("rate", [float("nan"), float("inf"), 0.0, -1.0])
def test_impossible_learning_rate_is_refused(job, rate, capsys):
    with pytest.raises(ValueError, match="positive number"):
        replace(job, learning_rate=rate)
    command = [str(job.pack), "--folder", str(job.folder), f"--learning-rate={rate}"]
    assert train.main(command) == 1
    assert "positive number" in capsys.readouterr().err


def test_training_that_diverges_keeps_its_last_checkpoint(job):
    Training(job, World()).run(stopped_after(1))
    before = (job.folder / "checkpoint.pt").read_bytes()
    with pytest.raises(FloatingPointError, match="smaller learning rate"):
        Training(replace(job, learning_rate=1e30), World()).run()
    assert (job.folder / "checkpoint.pt").read_bytes() == before
    assert not (job.folder / "complete").exists()


@pytest.mark.parametrize("part", ["optimizer", "model"])
def test_checkpoint_of_another_training_is_refused(job, part):
    Training(job, World()).run(stopped_after(1))
    path = job.folder / "checkpoint.pt"
    found = load_checkpoint(path)
    save_checkpoint(path, {**found, "model": {}})
    with pytest.raises(CheckpointError, match="another network"):
        Training(job, World())
    save_checkpoint(path, {key: value for key, value in found.items() if key != part})
    with pytest.raises(CheckpointError, match=f"lacks {part}"):
        Training(job, World())
