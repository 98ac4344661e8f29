"""Real ranks, each of which imports PyTorch: proofs, but for the end of what failed."""

import random

import psutil
import pytest

from course_utils.distributed.batch import PRESETS, JobScript, run_without_slurm
from course_utils.distributed.numbered_pack import write_numbered_pack
from course_utils.distributed.record import Record, samples_of
from course_utils.distributed.torchrun import RanksFailedError, run_ranks
from course_utils.distributed.training import train_alone
from course_utils.distributed.trial_results import RankOutcome, run_rank_trials
from course_utils.system import one_thread

PROGRAM = "course_utils.distributed.train"


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    return write_numbered_pack(tmp_path_factory.mktemp("pack") / "part0.zip", 203)


@pytest.mark.proof
def test_two_ranks_train_as_one_process_with_twice_the_batch_and_tell_what_uneven_batches_do(pack, tmp_path):
    found = run_rank_trials(pack, tmp_path, batch_size=16)
    with one_thread():
        alone = train_alone(pack, 32, tmp_path / "alone")
    assert [samples_of([step]) for step in found.steps] == [samples_of([step]) for step in alone]
    assert [step.loss for step in found.steps] == pytest.approx([step.loss for step in alone], rel=1e-5)
    assert [[len(labels) for labels in step.labels] for step in found.steps] == [[16, 16]] * 6 + [[6, 5]]
    verdicts = {name: [one.verdict for one in ranks] for name, ranks in found.trials.items()}
    assert verdicts == {
        "join": ["finished", "finished"],
        "idle": ["finished", "finished"],
        "uneven": ["waited until its limit", "finished"],
        "gone": ["was told that the other is gone"],
    }
    assert found.trials["uneven"][0].steps == found.trials["uneven"][1].steps == 2


@pytest.mark.proof
def test_ranks_killed_at_random_points_and_resumed_on_other_ranks_deliver_each_sample_once(pack, tmp_path):
    """A kill of one rank ends the job with an error; the next one has another number of ranks."""
    rng, record = random.Random(0), Record(tmp_path / "record.jsonl")
    options = ("--batch-size", "4", "--epochs", "2", "--record", "--pause", "0.1", "--save-every", "3")
    for phase, ranks in enumerate([*rng.sample(range(1, 6), k=2), 2]):
        is_last = phase == 2
        script = JobScript(pack, tmp_path, PRESETS["cpu"]._replace(ranks_per_node=ranks), options)
        (tmp_path / "job.sh").write_text(script.text)
        killer = Killer(record, 10_000 if is_last else len(record.steps()) + rng.randint(4, 8), rng)
        run = run_without_slurm(tmp_path / "job.sh", [killer], limit=300)
        assert (run.starts, killer.has_killed, run.status == 0) == (1, not is_last, is_last), run.output
    for epoch in range(2):
        assert sorted(samples_of(step for step in record.steps() if step.epoch == epoch)) == list(range(203))


class Killer:
    """Kills one of the ranks after a number of steps; it never asks for the signal of Slurm."""

    def __init__(self, record, steps, rng):
        self.record, self.steps, self.rng, self.has_killed = record, steps, rng, False

    def __call__(self):
        if not self.has_killed and len(self.record.steps()) >= self.steps:
            self.rng.choice([one for one in psutil.Process().children(recursive=True) if is_rank(one)]).kill()
            self.has_killed = True
        return False


def is_rank(process):
    try:
        return PROGRAM in process.cmdline()
    except psutil.NoSuchProcess:  # it has just ended
        return False


@pytest.mark.proof
def test_error_of_a_rank_is_shown(tmp_path):
    with pytest.raises(RanksFailedError, match="No such file"):
        run_ranks("course_utils.distributed.train", [tmp_path / "none.zip", "--folder", tmp_path / "run"])


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        ("", "finished"),
        ("Timed out waiting 2000ms for recv operation to complete", "waited until its limit"),
        ("Connection closed by peer [127.0.0.1]:33491", "was told that the other is gone"),
        ("Read error [127.0.0.1]:38826: Connection reset by peer", "was told that the other is gone"),
        ("out of memory", "out of memory"),
    ],
)
def test_verdict_depends_on_neither_port_nor_time(error, verdict):
    assert RankOutcome(0, 1, 0, 0.1, error).verdict == verdict
