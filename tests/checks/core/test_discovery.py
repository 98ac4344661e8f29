import pytest

from course_utils.checks.core.check import find_checks

COMPLETE = """
def make(rng): return {"number": 3}, 4
def probe(inputs, successor): return successor(inputs["number"])
def judge(truth, found): return "right" if found == truth else "wrong"
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """Create an importable package of check modules and return its name."""
    monkeypatch.syspath_prepend(tmp_path)

    def create(name, **modules):
        folder = tmp_path / name
        folder.mkdir()
        for module, source in {"__init__": "", **modules}.items():
            (folder / f"{module}.py").write_text(source)
        return name

    return create


def test_every_module_is_found_as_a_check(package):
    checks = find_checks(package("two_checks", second=COMPLETE, first=COMPLETE + "stable = print\n"))
    assert list(checks) == ["first", "second"]
    assert checks["first"].stable is print
    assert checks["second"].stable is None
    assert checks["second"](lambda number: number + 1).message == "right"


def test_missing_function_is_named_with_its_module(package):
    name = package("incomplete", half="def make(rng): return {}, None\n")
    with pytest.raises(AttributeError, match=r"incomplete\.half must define probe, judge"):
        find_checks(name)
