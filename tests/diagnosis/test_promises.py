"""How the benchmark counts predictions, and that it continues where it was stopped."""

import json

import pytest

from tests.bench.diagnosis import __main__ as benchmark
from tests.bench.diagnosis.promise import Kept, measure
from tests.bench.diagnosis.table import page

HERE = {
    "made": "2026-11-25",
    "machine": "Linux, 2 cores",
    "python": "3.11.7",
    "versions": {"torch": "2.15.0"},
}


@pytest.mark.parametrize(
    ("predicted", "measured", "kept"),
    [
        (2.0, 2.4, True),
        (2.0, 1.4, False),
        (4.2, 20.0, False),
        (5.0, 20.0, True),  # at least 5
        (5.0, 3.0, False),
        (None, 6.0, None),
        (2.0, None, None),
    ],
)
def test_a_promise_is_kept_within_a_quarter_of_what_was_predicted(predicted, measured, kept):
    assert Kept("a", "no_workers", predicted, measured, 3).is_kept() is kept


def test_a_second_run_measures_what_the_first_has_not(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(benchmark, "RECORD", tmp_path / "diagnosis.json")
    asked = []

    def fake(cure, rounds):
        if len(asked) == 3:
            raise KeyboardInterrupt
        asked.append((cure.name, cure.cause))
        return Kept(cure.name, cure.cause, 2.0, None if len(asked) == 2 else 2.2, rounds)

    monkeypatch.setattr(benchmark.promise, "measure", fake)
    with pytest.raises(KeyboardInterrupt):
        benchmark.keep_promises(3, again=False)
    first, failed, third = asked
    assert len(json.loads((tmp_path / "diagnosis.json").read_text())["promise"]) == 3
    asked[:] = asked[:1]
    with pytest.raises(KeyboardInterrupt):
        benchmark.keep_promises(3, again=False)
    assert failed in asked[1:]
    assert not {first, third} & set(asked[1:])
    assert capsys.readouterr().out.count("\n") == 5


def test_the_page_tells_what_was_predicted_and_what_was_not():
    kept = [
        Kept("a", "no_workers", 2.0, 2.2, 3),
        Kept("b", "pauses", None, 1.5, 3),
        Kept("c", "pauses", 3.0, 1.0, 3),
    ]
    text = page(HERE | {"promise": [one._asdict() | {"kept": one.is_kept()} for one in kept]})
    assert "Of 3 cures a gain was predicted for 2; for 1 of these" in text
    assert "| b | pauses | – | 1.50 | – |" in text


@pytest.mark.slow
def test_a_script_that_fails_is_told_and_nothing_else_happens(tmp_path):
    script = tmp_path / "broken.py"
    script.write_text("raise ValueError\n")
    cure = benchmark.promise.Cure(script, [], "no_workers", script.read_text())
    assert measure(cure, 1) == ("broken", "no_workers", None, None, 1)
