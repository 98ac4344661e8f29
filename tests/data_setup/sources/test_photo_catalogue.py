from pathlib import Path

import pytest

import data_setup
from data_setup.sources.photo_catalogue import PHOTOGRAPHS, credits_text


@pytest.mark.parametrize("photograph", PHOTOGRAPHS, ids=lambda photograph: photograph.subject)
def test_the_wheels_carry_it(photograph):
    assert photograph.path().is_file()


def test_credits_are_listed_for_every_photograph():
    listed = Path(data_setup.__file__).with_name("CREDITS.md").read_text()
    assert listed == credits_text()
    for photograph in PHOTOGRAPHS:
        assert photograph.author in listed
        assert photograph.licence in listed
