"""Scripts of the clinic have neutral names; their key says what they suffer from only to who names it."""

import pytest

from course_utils import clinic
from course_utils.diagnosis.judge.finding import CAUSES


def test_names_are_those_of_the_key_and_of_the_diagnosis():
    causes = {patient.cause for patient in clinic.patients().values()}
    assert set(clinic.NAMES) == causes | {"healthy"}
    assert causes - {"healthy"} <= set(CAUSES)


@pytest.mark.parametrize("letter", "abcdefghij")
def test_only_the_right_name_shows_the_evidence(letter: str):
    patient = clinic.patients()[letter]
    said = {name: clinic.name(letter, name).text for name in clinic.NAMES}
    assert [name for name, text in said.items() if patient.evidence in text] == [patient.cause]
    assert all(patient.look in text for name, text in said.items() if name != patient.cause)


@pytest.mark.parametrize("letter", "abcdefghij")
def test_a_script_does_not_name_its_illness(letter: str):
    text = clinic.path(letter).read_text()
    assert "expect" not in text
    assert not [name for name in clinic.NAMES if name in text]


def test_what_is_not_there_is_said():
    assert repr(clinic.name("a", "?")) == "not named yet"
    with pytest.raises(ValueError, match="no script 'k'"):
        clinic.show("k")
    with pytest.raises(ValueError, match="no 'slow'"):
        clinic.name("a", "slow")
