import pytest
import torch
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader

from course_utils.tokens import TokenBlocks, TokenFile, write_tokens


@pytest.fixture
def token_file(tmp_path):
    write_tokens(tmp_path, {"all": [[3, 4], [5, 6, 7, 8, 9], [], [1]]}, end=0, vocabulary=10)
    return TokenFile(tmp_path)


def test_blocks_cover_the_file_with_targets_and_positions(token_file):
    # The file: 3 4 0 | 5 6 7 8 9 0 | 0 | 1 0
    blocks = TokenBlocks(token_file, 4)
    found = [[part.tolist() for part in blocks[index]] for index in range(len(blocks))]
    assert found == [
        [[3, 4, 0, 5], [4, 0, -100, 6], [0, 1, 2, 0]],
        [[6, 7, 8, 9], [7, 8, 9, 0], [0, 1, 2, 3]],
        [[0, 0, 1], [-100, -100, 0], [0, 0, 0]],
    ]


@pytest.mark.parametrize(("block", "lengths"), [(11, [11]), (20, [11]), (10, [10, 1])])
def test_last_block_may_be_shorter(token_file, block, lengths):
    blocks = TokenBlocks(token_file, block)
    assert [len(blocks[index][0]) for index in range(len(blocks))] == lengths


def test_blocks_are_int64_and_own_their_memory(token_file):
    inputs, targets, positions = TokenBlocks(token_file, 4)[0]
    assert {part.dtype for part in (inputs, targets, positions)} == {torch.int64}
    targets.fill_(7)
    assert inputs.tolist() == [3, 4, 0, 5]


def test_index_out_of_range_ends_a_loop(token_file):
    assert len(list(TokenBlocks(token_file, 4))) == 3


def test_losses_ignore_the_targets_of_other_documents(token_file):
    _, targets, _ = TokenBlocks(token_file, 4)[0]
    logits = torch.zeros(4, 10)
    logits[2] = torch.tensor([9.0] * 9 + [-9])
    assert cross_entropy(logits, targets).item() == pytest.approx(torch.tensor(10.0).log().item())


def test_blocks_come_through_workers(token_file):
    loader = DataLoader(TokenBlocks(token_file, 4), batch_size=None, num_workers=1)
    assert torch.cat([inputs for inputs, _, _ in loader]).tolist() == token_file.tokens[:-1].tolist()
