from pathlib import Path

import pytest

import data_setup
from data_setup.sources.photo_catalogue import PHOTOGRAPHS

CREDITS = Path(data_setup.__file__).with_name("CREDITS.md").read_text()


@pytest.mark.parametrize("photograph", PHOTOGRAPHS, ids=lambda photograph: photograph.subject)
def test_photograph_is_in_its_package_and_has_its_credit(photograph):
    assert photograph.path().is_file()
    assert f"| {photograph.subject} | `{photograph.folder}/{photograph.file}` |" in CREDITS
