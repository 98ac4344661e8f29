import pytest
import torch

from course_utils.distributed.ranks import backend_for, joined


@pytest.mark.parametrize(
    ("gpus", "local_ranks", "backend"),
    [
        (0, 1, "gloo"),
        (0, 2, "gloo"),
        (1, 2, "gloo"),
        (1, 1, "cpu:gloo,cuda:nccl"),
        (4, 4, "cpu:gloo,cuda:nccl"),
    ],
)
def test_ranks_that_share_a_gpu_use_gloo(gpus, local_ranks, backend):
    assert backend_for(gpus, local_ranks) == backend


def test_process_that_nobody_started_as_a_rank_is_the_only_one(monkeypatch):
    monkeypatch.delenv("RANK", raising=False)
    with joined(on_cpu=True) as world:
        assert (world.rank, world.size, world.device) == (0, 1, torch.device("cpu"))
        assert world.any(True)
        assert not world.any(False)
        assert world.gather("here") == ["here"]
