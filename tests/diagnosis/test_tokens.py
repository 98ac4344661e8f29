"""Tokens of a batch: what is padding, and which integers are no tokens."""

from typing import Any

import pytest
import torch

from course_utils.diagnosis.facts.content import describe
from course_utils.diagnosis.facts.tokens import count_tokens
from course_utils.diagnosis.judge.evidence import Loader
from course_utils.diagnosis.judge.fetches import padding, rate
from course_utils.diagnosis.show import terminal

ROWS = torch.zeros(2, 20, dtype=torch.int64)
ROWS[0, :20] = torch.arange(1, 21)
ROWS[1, :5] = torch.arange(1, 6)
MASK = (ROWS > 0).long()
LABELS = ROWS.where(ROWS > 0, -100)
FULL = torch.arange(40).reshape(2, 20)


def counted(batch: Any) -> tuple[int, int]:
    found = describe(batch)
    return found.places, found.useful


@pytest.mark.parametrize(
    "batch",
    [
        ROWS,
        ROWS.int(),
        [ROWS, torch.tensor([0, 1])],
        [FULL, LABELS],  # inputs, and targets that are ignored at the end
        [FULL, ROWS, MASK],
        {"input_ids": ROWS, "attention_mask": MASK},
        {"input_ids": ROWS.flip(1), "attention_mask": MASK.flip(1)},  # padded on the left
        {"input_ids": FULL, "attention_mask": MASK.bool()},
        {"input_ids": FULL, "labels": LABELS},
        {"input_ids": ROWS, "token_type_ids": torch.zeros_like(ROWS)},
    ],
)
def test_padding_is_counted(batch: Any):
    assert counted(batch) == (40, 25)


@pytest.mark.parametrize(
    "batch",
    [
        FULL,
        [FULL, FULL + 1, torch.zeros_like(FULL)],  # with types that are all alike
        {"input_ids": FULL, "attention_mask": torch.ones_like(FULL)},
        {"input_ids": ROWS, "attention_mask": torch.ones_like(FULL)},  # zeros may be tokens
        torch.cat([FULL[:, :-1], torch.full((2, 1), 7)], dim=1),  # all documents end with the same token
    ],
)
def test_full_rows_have_no_padding(batch: Any):
    assert counted(batch) == (40, 40)


@pytest.mark.parametrize(
    "batch",
    [
        torch.zeros(2, 20),
        torch.zeros(2, 20, dtype=torch.uint8),
        torch.zeros(2, 4, dtype=torch.int64),  # boxes
        torch.zeros(2, 20, 20, dtype=torch.int64),  # masks of pixels
        torch.zeros(0, 20, dtype=torch.int64),
        ["text", 3],
        {"input_ids": [1, 2, 3]},
    ],
)
def test_other_batches_hold_no_tokens(batch: Any):
    assert counted(batch) == (0, 0)


def test_the_batch_is_not_changed():
    before = ROWS.clone()
    count_tokens(ROWS, [ROWS])
    assert torch.equal(ROWS, before)


def loader(useful: int, batches: int = 4) -> Loader:
    row = [0.0, 0.1, 0, 0, 0, 0.3, 1, 0, 0, 0, 0]  # 0.4 s a step
    epoch = {"name": "0.0", "settings": {"workers": 0}, "training": True, "rows": [row] * 20}
    return Loader([epoch], {"batch": [{"places": 1000, "useful": useful}] * batches}, {})


def test_useful_tokens_a_second():
    found = rate(loader(600))
    assert (found.places, found.share) == (4000, 0.6)
    assert found.second == pytest.approx(1500)
    assert terminal.told(found._asdict()) == (
        "1,500 a second; 60% of the places are useful, the rest is padding"
    )


@pytest.mark.parametrize(("useful", "batches", "named"), [(600, 4, 1), (900, 4, 0), (600, 2, 0), (0, 0, 0)])
def test_much_padding_is_a_finding(useful: int, batches: int, named: int):
    found = padding(loader(useful, batches))
    assert [finding.cause for finding in found] == ["padding"] * named
