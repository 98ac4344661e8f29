"""Training in one process: what a stop and a kill leave, and that a resumed run is the undisturbed one."""

import os
import signal
import subprocess
import sys
import tempfile
from collections import deque
from contextlib import suppress
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.distributed import train
from course_utils.distributed.checkpoint import load_checkpoint, save_checkpoint
from course_utils.distributed.numbered_pack import write_numbered_pack
from course_utils.distributed.ranks import World
from course_utils.distributed.record import Record, samples_of
from course_utils.distributed.training import Training, TrainingJob, train_alone
from course_utils.system import one_thread

IMAGES, EPOCHS = 23, 2


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    return write_numbered_pack(tmp_path_factory.mktemp("pack") / "part0.zip", IMAGES, size=8)


@pytest.fixture(scope="module")
def undisturbed(pack, tmp_path_factory):
    with one_thread():
        return train_alone(pack, 4, tmp_path_factory.mktemp("run"), epochs=EPOCHS, size=6)


def test_epochs_hold_each_sample_once_in_different_orders(undisturbed):
    epochs = [samples_of(step for step in undisturbed if step.epoch == epoch) for epoch in range(EPOCHS)]
    assert [sorted(epoch) for epoch in epochs] == [list(range(IMAGES))] * EPOCHS
    assert epochs[0] != epochs[1]


@settings(max_examples=15)
@given(stops=st.lists(st.integers(1, 7), max_size=4), save_every=st.integers(1, 4), is_killed=st.booleans())
def test_stopped_or_killed_runs_equal_the_undisturbed_one(pack, undisturbed, stops, save_every, is_killed):
    """Losses too: parameters, momentum and position are those of the checkpoint."""
    with tempfile.TemporaryDirectory() as folder, one_thread():
        job = TrainingJob(
            pack, Path(folder), epochs=EPOCHS, batch_size=4, size=6, record=True, save_every=save_every
        )
        for stop in stops:
            run_until(job, stop, is_killed)
        training = Training(job, World())
        assert training.run()
        assert Record(job.folder / "record.jsonl").steps() == undisturbed
        assert (job.folder / "complete").exists()


class Killed(BaseException):
    pass


def run_until(job, steps, is_killed):
    """Run some steps; a stop writes a checkpoint after them, a kill does not."""
    asked = deque(range(steps))

    def should_stop():
        asked.popleft()
        if not asked and is_killed:
            raise Killed
        return not asked

    with suppress(Killed):
        Training(job, World()).run(should_stop)


def test_stop_repeats_no_step(pack, tmp_path):
    job = TrainingJob(pack, tmp_path, batch_size=4, size=6, record=True)
    run_until(job, 2, is_killed=False)
    steps = Record(tmp_path / "record.jsonl").steps()
    assert len(steps) == 2
    Training(job, World())
    assert Record(tmp_path / "record.jsonl").steps() == steps


def test_run_that_is_complete_does_nothing_more(pack, tmp_path, undisturbed):
    job = TrainingJob(pack, tmp_path, batch_size=4, size=6, record=True)
    assert Training(job, World()).run()
    steps = Record(tmp_path / "record.jsonl").steps()
    assert Training(job, World()).run()
    assert Record(tmp_path / "record.jsonl").steps() == steps == undisturbed[: len(steps)]


def test_failed_save_leaves_the_previous_checkpoint(tmp_path):
    checkpoint = {"model": {"a": torch.ones(2)}, "optimizer": {}, "loader": {"epoch": 1}, "generators": []}
    save_checkpoint(tmp_path / "checkpoint.pt", checkpoint)
    with pytest.raises(AttributeError):
        save_checkpoint(tmp_path / "checkpoint.pt", {**checkpoint, "optimizer": lambda: None})
    found = load_checkpoint(tmp_path / "checkpoint.pt")
    assert torch.equal(found["model"].pop("a"), torch.ones(2))
    assert found == {**checkpoint, "model": {}}
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint.pt"]
    assert load_checkpoint(tmp_path / "other.pt") is None


@pytest.fixture
def _own_handler():
    before = signal.getsignal(signal.SIGUSR1)
    yield
    signal.signal(signal.SIGUSR1, before)


@pytest.mark.usefixtures("_own_handler")
def test_signal_is_noticed_and_does_not_end_the_process():
    stop = train.StopSignal()
    assert not stop()
    os.kill(os.getpid(), signal.SIGUSR1)
    assert stop()


def test_signal_is_noticed_before_pytorch_is_imported():
    script = "import sys, course_utils.distributed.train; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0


@pytest.mark.usefixtures("_own_handler")
def test_command_trains_in_one_process_and_says_what_it_would_do(pack, tmp_path, capsys):
    command = [str(pack), "--folder", str(tmp_path), "--batch-size", "8"]
    assert train.main([*command, "--dry-run"]) == 0
    assert list(tmp_path.iterdir()) == []
    assert "from the beginning" in capsys.readouterr().out
    assert train.main(command) == 0
    assert capsys.readouterr().out == f"{tmp_path}: complete\n"
    train.main([*command, "--dry-run"])
    assert "from epoch 1, 0 samples" in capsys.readouterr().out
