"""The batch script under a real Slurm: stopped by its signal and killed, it trains as if undisturbed."""

import os
import time
from pathlib import Path

import psutil
import pytest

from course_utils.distributed.batch import PRESETS, JobScript
from course_utils.distributed.numbered_pack import write_numbered_pack
from course_utils.distributed.record import Record, samples_of
from course_utils.distributed.training import train_alone
from tests.grading.slurm_node import SlurmNode, missing

pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(bool(missing()), reason=f"Slurm is not installed: {missing()}"),
    pytest.mark.skipif(os.geteuid() != 0, reason="only root may start munge and Slurm"),
]


def test_job_that_is_stopped_once_and_killed_once_equals_an_undisturbed_one(tmp_path_factory, monkeypatch):
    """The job stages its pack: the ranks read a copy, which the first start has made."""
    folder, scratch = tmp_path_factory.mktemp("job"), tmp_path_factory.mktemp("scratch")
    monkeypatch.setenv("TMPDIR", str(scratch))  # Slurm gives it to the job
    pack = write_numbered_pack(folder / "part0.zip", 203)
    options = ("--batch-size", "4", "--epochs", "2", "--save-every", "5", "--pause", "0.2", "--record")
    script = JobScript(pack, folder, PRESETS["cpu"], options, stage=True)
    (folder / "job.sh").write_text(script.text)
    record = Record(folder / "record.jsonl")
    with SlurmNode() as node:
        job = node.run("sbatch", "--parsable", f"--output={folder}/log", str(folder / "job.sh")).strip()
        wait_until(lambda: len(record.steps()) >= 8, folder)
        (copy,) = scratch.glob("staged-*/part0.zip-*/data/part0.zip")
        assert {arguments[3] for arguments in ranks_that_run(folder)} == {str(copy)}
        node.run("scancel", "--signal=USR1", "--batch", job)  # what Slurm does before the time limit
        wait_until(lambda: len(record.steps()) >= 25, folder)
        node.run("scontrol", "requeue", job)  # what Slurm does when a node fails
        wait_until((folder / "complete").exists, folder)
        # A node that ends before its jobs leaves them running.
        wait_until(lambda: not node.run("squeue", "--noheader", "--states=RUNNING,COMPLETING"), folder)
    undisturbed = train_alone(pack, 8, folder / "undisturbed", epochs=2)
    assert samples_of(record.steps()) == samples_of(undisturbed)
    assert [step.loss for step in record.steps()] == pytest.approx([step.loss for step in undisturbed])
    log = (folder / "log").read_text()
    assert log.count("stopped in epoch 0") == 1
    assert "complete" in log


def ranks_that_run(folder: Path):
    """Return the command lines of a job's ranks: of Python, not of the shells and srun, which name it."""
    lines = [process.info["cmdline"] or [] for process in psutil.process_iter(["cmdline"])]
    ranks = [line for line in lines if line[1:3] == ["-m", "course_utils.distributed.train"]]
    return [line for line in ranks if str(folder) in line]  # not those of a test that runs beside this one


def wait_until(happened, folder: Path, seconds=240):
    for _ in range(seconds * 5):
        if happened():
            return
        time.sleep(0.2)
    log = folder / "log"
    raise AssertionError(log.read_text() if log.exists() else "the job never started")
