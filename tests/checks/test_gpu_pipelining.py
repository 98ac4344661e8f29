import functools

import numpy as np
import pytest
import torch

from course_utils.checks import gpu_pipelining
from course_utils.checks.core import evidence
from course_utils.checks.core.check import CheckFailed
from grading.answers.bank import answers
from grading.answers.verdicts import check_arguments, verdict
from tests.checks.bank_verdicts import assert_verdict, bank_of

ANSWERS = answers("gpu_pipelining")
RIGHT_PREFETCHERS = [answer for answer in ANSWERS if answer.check == "prefetcher" and not answer.mistake]
CHECKS = sorted({answer.check for answer in ANSWERS})


@pytest.mark.parametrize("answer", bank_of("gpu_pipelining"))
def test_answer_gets_the_verdict_of_its_file(answer):
    assert_verdict(answer)


@pytest.mark.parametrize("check", CHECKS)
def test_inputs_and_truth_are_plain_data_and_depend_on_the_seed_alone(check):
    make = getattr(gpu_pipelining, check).make
    first, again, other = (make(np.random.default_rng(seed)) for seed in (5, 5, 6))
    assert evidence.encode(first[0]) == evidence.encode(again[0])
    assert evidence.encode(first) == evidence.encode(again) != evidence.encode(other)


@pytest.mark.parametrize("check", CHECKS)
def test_message_quotes_the_error_of_a_crashing_answer(check):
    def broken(*args, **kwargs):
        raise ZeroDivisionError("my own mistake")

    arguments = 2 if check == "broken_images" else 1
    with pytest.raises(CheckFailed, match="my own mistake"):
        getattr(gpu_pipelining, check)(*[broken] * arguments)


@pytest.mark.parametrize(
    "answer",
    [
        answer
        for answer in ANSWERS
        if answer.check == "broken_images" and answer.mistake in (None, "counts_in_the_worker", "stops_early")
    ],
    ids=str,
)
def test_broken_images_are_checked_without_a_worker_where_fork_is_unsafe(answer, monkeypatch):
    monkeypatch.setattr("torch.backends.mps.is_available", lambda: True)
    if answer.name == "wrong_counter_emptied_by_the_loop":  # right in one process
        assert verdict(answer).mistake is None
    elif answer.mistake == "counts_in_the_worker":
        assert verdict(answer).mistake == "shares_state"
    else:
        assert_verdict(answer)


@functools.cache
def host_batches():
    generator = torch.Generator().manual_seed(0)
    return [
        [
            torch.randint(0, 256, (256, 3, 64, 64), dtype=torch.uint8, generator=generator),
            torch.full((256,), n),
        ]
        for n in range(40)
    ]


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
@pytest.mark.parametrize("answer", RIGHT_PREFETCHERS, ids=str)
def test_right_prefetcher_yields_all_values_on_a_real_gpu(answer):
    [prefetch] = check_arguments(answer)
    pinned = ([tensor.pin_memory() for tensor in batch] for batch in host_batches())
    weights = torch.ones(1024, 1024, device="cuda")
    sums = []
    for images, labels in prefetch(pinned, torch.device("cuda"), torch.cuda):
        for _ in range(20):
            weights = weights @ weights / 1024
        sums.append((images.long().sum(dim=(1, 2, 3)), labels.clone()))
    torch.cuda.synchronize()
    assert len(sums) == len(host_batches())
    for (image_sums, labels), (images, true_labels) in zip(sums, host_batches(), strict=True):
        assert torch.equal(image_sums.cpu(), images.long().sum(dim=(1, 2, 3)))
        assert torch.equal(labels.cpu(), true_labels)
