"""What `make data` advises: it takes no `--out`, and a folder is chosen by COURSE_DATA."""

import errno

import pytest

from data_setup import cli
from data_setup.cli import main
from data_setup.format import FORMS


def test_forms_of_another_origin_lead_to_a_folder_of_ones_own(tmp_path, monkeypatch, capsys):
    for form in FORMS:
        (tmp_path / form).mkdir()
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    assert main(["photos", "--if-missing"]) == 1
    assert "another folder (COURSE_DATA=FOLDER, or --out)" in capsys.readouterr().err


@pytest.mark.parametrize("number", [errno.EROFS, errno.EACCES])
def test_folder_that_cannot_be_written_leads_to_another(number):
    assert "COURSE_DATA=FOLDER" in cli._explain(OSError(number, "refused", "/data"))
