"""The clinic: scripts that are ill in one way each, pairs, and healthy ones that look ill."""

import re
from pathlib import Path

import pytest

from course_utils.diagnosis.judge.finding import CAUSES
from tests.diagnosis.examine import Patient, examine_all

HERE = Path(__file__).parent
ILL = HERE / "scripts" / "ill.py"
CONDITIONS = re.findall(r'name == "(\w+)"', ILL.read_text())
SCRIPTS = sorted((HERE / "clinic").glob("*.py"))
# One of each class of rules: wrong results, where the time of a fetch goes, nothing.
QUICK = (
    "repeated_random_numbers",
    "epoch_not_set",
    "shared_handle",
    "decoded_at_full_size",
    "healthy_computing",
)


def expected(script: Path) -> list[str]:
    [line] = re.findall(r"^# expect: (.*)$", script.read_text(), re.MULTILINE)
    return [] if line == "healthy" else line.split(", ")


@pytest.fixture(scope="module")
def quick() -> dict[str, Patient]:
    return examine_all([f"{ILL} {name}" for name in QUICK])


@pytest.fixture(scope="module")
def ward() -> dict[str, Patient]:
    return examine_all([*(f"{ILL} {name}" for name in CONDITIONS), *map(str, SCRIPTS)])


@pytest.mark.slow
@pytest.mark.parametrize("name", QUICK)
def test_quick_half_names_the_cause_first(quick: dict[str, Patient], name: str):
    judge(quick[f"{ILL} {name}"], [] if name.startswith("healthy") else [name])


@pytest.mark.proof
@pytest.mark.parametrize("name", CONDITIONS)
def test_condition_is_named_first(ward: dict[str, Patient], name: str):
    judge(ward[f"{ILL} {name}"], [] if name.startswith("healthy") else [name])


@pytest.mark.proof
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_script_of_the_clinic_gets_its_cause_first(ward: dict[str, Patient], script: Path):
    judge(ward[str(script)], expected(script))


def judge(patient: Patient, causes: list[str]) -> None:
    assert patient.status == 0, patient.errors
    assert "failed, the script continues" not in patient.errors
    if causes:
        assert patient.causes, patient.report["verdict"]
        assert patient.causes[0] in causes
    else:
        assert patient.causes == []


def test_every_script_expects_known_causes():
    assert {cause for script in SCRIPTS for cause in expected(script)} <= set(CAUSES)
    assert {name for name in CONDITIONS if not name.startswith("healthy")} <= set(CAUSES)
