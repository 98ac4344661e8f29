"""What a check of blocks must tell apart, its files always contain."""

import itertools

import numpy as np
import pytest

from course_utils.checks.beyond_photographs._block_rules import Asked, block_of
from course_utils.checks.beyond_photographs._token_files import LARGE_COUNT, draw_files, draw_large

SEEDS = range(30)


@pytest.fixture(params=SEEDS)
def files(request):
    return draw_files(np.random.default_rng(request.param))


def test_last_items_are_shorter_whole_a_single_token_and_the_only_one(files):
    last = [(len(file.tokens) - 1) % file.block for file in files]
    assert 1 < last[0] < files[0].block
    assert last[1:3] == [0, 1]
    assert files[3].items == 1
    assert len({file.block for file in files}) == 4


def test_documents_end_at_both_ends_of_a_block_and_twice_within_one(files):
    for file in files[:3]:
        ends = [np.flatnonzero(Asked(file, item).row[:-1] == file.end).tolist() for item in range(5)]
        assert ends[0] == [0]
        assert ends[1] == []
        assert ends[2] == [file.block - 1]
        assert ends[3] == [2, 3]
        assert len(ends[4]) == 3
        assert file.tokens[-1] == file.end


def test_tokens_are_too_large_for_the_other_dtype_or_a_signed_one(files):
    for file in files:
        ordinary = file.tokens[file.tokens != file.end].astype(np.int64)
        assert len(ordinary)
        assert ordinary.min() >= (2**15 if file.dtype == "uint16" else 2**16)


def test_rules_agree_with_a_loop_over_tokens(files):
    for file in files:
        for item in range(file.items):
            row, expected, position = Asked(file, item).row.tolist(), [], 0
            for token, following in itertools.pairwise(row):
                expected.append([token, -100 if token == file.end else following, position])
                position = 0 if token == file.end else position + 1
            found = np.stack(block_of(Asked(file, item).row, file.end), axis=1)
            assert found.tolist() == expected


@pytest.mark.parametrize("seed", SEEDS)
def test_later_items_of_the_large_file_change_in_tokens_and_documents(seed):
    large = draw_large(np.random.default_rng(seed))
    first, later = dict(large["first"]), dict(large["later"])
    assert set(later) < set(first)
    assert max(large["asked"]) * large["block"] + large["block"] < LARGE_COUNT
    for item in large["asked"]:
        place = item * large["block"] - 30
        assert not np.array_equal(first[place] == large["end"], later[place] == large["end"])
        assert np.mean(first[place] == later[place]) < 0.05
