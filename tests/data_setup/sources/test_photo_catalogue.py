from pathlib import Path

import pytest

import data_setup
from data_setup.sources.photo_catalogue import PHOTOGRAPHS, credits_text


@pytest.mark.parametrize("photograph", PHOTOGRAPHS, ids=lambda photograph: photograph.subject)
def test_photograph_is_in_its_package(photograph):
    assert photograph.path().is_file()


def test_credits_file_is_up_to_date():
    listed = Path(data_setup.__file__).with_name("CREDITS.md").read_text()
    assert listed == credits_text()
    for photograph in PHOTOGRAPHS:
        assert photograph.author in listed
        assert photograph.licence in listed
