"""What the check of `repair_tar` says of a lost sample or another name points to its cause."""

import pytest

from grading.answers.bank import answer
from grading.answers.verdicts import verdict


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("wrong_one_block_too_far", "fill 2 blocks exactly"),
        ("wrong_skips_long_names", "extension header"),
        ("wrong_names_without_extension_headers", "part of a longer name"),
    ],
)
def test_message_names_the_cause(name, cause):
    assert cause in " ".join(verdict(answer("packed_formats", "repair_tar", name)).message.split())
