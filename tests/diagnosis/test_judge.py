"""The model of a step, and what is said of each cause."""

import itertools
import json
import runpy
from types import SimpleNamespace

import pytest
import torch

from course_utils.clinic import ward
from course_utils.diagnosis.judge import loading
from course_utils.diagnosis.judge.evidence import LATER, WAIT, Loader
from course_utils.diagnosis.judge.finding import CAUSES, Finding
from course_utils.diagnosis.judge.stages import Stages, _late
from course_utils.diagnosis.judge.verdict import _busy
from tests.bench.diagnosis.promise import cures
from tests.lessons.lesson import COURSE

PLAIN = Stages(
    load=0.04, load_cpu=0.04, workers=0, cores=8, compute=0.02, compute_cpu=0.02, hand_over=0.0, rest=0.0
)


@pytest.mark.parametrize(
    ("change", "step"),
    [
        ({}, 0.06),  # one after the other
        ({"workers": 1}, 0.04),  # side by side: the slower one
        ({"workers": 4}, 0.02),
        ({"workers": 4, "cores": 1}, 0.06),  # on one core
        ({"workers": 8, "cores": 1, "load_cpu": 0.001, "compute_cpu": 0.001}, 0.02),  # waiting needs no core
        ({"workers": 4, "rest": 0.01}, 0.03),
        ({"workers": 2, "cores": 2, "compute_cpu": 0.01, "hand_over": 0.005}, 0.03),  # both sides on a core
        # Hand-over asks busy workers,
        ({"workers": 2, "compute": 0.0, "compute_cpu": 0.0, "asks": 4, "late": 0.02}, 0.04),
        # which answer when they have loaded, at the latest,
        ({"workers": 2, "compute": 0.0, "compute_cpu": 0.0, "asks": 2, "late": 1.0}, 0.04),
        # and give batches away in time.
        ({"workers": 1, "asks": 1, "late": 0.001}, 0.04),
    ],
)
def test_a_step_is_its_slowest_stage(change: dict, step: float):
    assert PLAIN._replace(**change).step() == pytest.approx(step)


@pytest.mark.parametrize(("others", "pressure", "busy"), [(1, 0.9, True), (15, 0.9, False), (1, 0.1, False)])
def test_a_machine_is_busy_if_others_use_the_cores(others: float, pressure: float, busy: bool):
    epoch = {"settings": {}, "training": True}
    main = {"begun": 0.0, "ended": 10.0, "cores": 2, "cpu": 1.0, "pressure": pressure}
    assert _busy(Loader([epoch], {"fetch": [{"cpu": 1.0, "others": others}]}, main), main) == busy


@pytest.mark.parametrize(
    ("records", "late"),
    [
        ([(1, (0.004, 5)), (1, (0.01, 15)), (2, (0.02, 5))], 0.0015),  # the last record of each worker
        ([(1, (0.02, 5)), (2, (0.0, 0))], 0.0),  # asked too rarely to say
    ],
)
def test_waits_for_the_lock_are_averaged_over_workers(records: list[tuple], late: float):
    written = [{"pid": pid, "late": late} for pid, late in records]
    loader = Loader([{"settings": {"workers": 2}, "training": True}], {"process": written}, {"cores": 2})
    assert _late(loader) == pytest.approx(late)


@pytest.mark.parametrize(
    ("delay", "load", "hidden"),
    [
        (0.8, 0.1, True),  # alone on the machine, the step would wait for its two workers
        (0.8, 0.03, False),
        (0.1, 0.1, False),  # nobody else uses the cores: what was measured counts
    ],
)
def test_on_a_busy_machine_computing_hides_no_wait(delay: float, load: float, hidden: bool):
    stage = PLAIN._replace(workers=2, load=load, load_cpu=load, asks=4, late=0.005)
    assert loading._hidden_wait(SimpleNamespace(delay=delay), stage) == hidden


@pytest.mark.parametrize(
    ("slow", "delay", "found"),
    [
        (0.2, 0.0, True),
        (0.2, 0.19, False),  # that one waited for a core
        (0.06, 0.0, False),  # slow, and too little of all loading
    ],
)
def test_a_sample_is_slow_if_a_good_part_of_all_loading_is_its_own(slow: float, delay: float, found: bool):
    usual = {"epoch": "1", "worker": 0, "wall": 0.01, "delay": 0.0, "cpu": 0.01, "slowest": (0.001, 0)}
    fetches = [usual] * 37 + [usual | {"wall": slow, "delay": delay, "slowest": (slow, 7)}] * 3
    held = {WAIT: 0.05, LATER: 1}
    epoch = {"name": "1", "settings": {"workers": 2}, "training": True}
    rows = [[held.get(place, 0.0) for place in range(11)]] * 30
    loader = Loader([epoch | {"rows": rows}], {"fetch": fetches}, {"cores": 2})
    assert bool(loading.slow_sample(loader)) == found


@pytest.mark.parametrize(("waiting", "workers"), [(0.0, 2), (0.2, 2), (0.5, 1), (0.9, 1)])
def test_no_more_workers_are_advised_than_cores_are_free(waiting: float, workers: int):
    loader = Loader([{"settings": {"workers": 0}, "training": True}], {}, {"cores": 2})
    found = loading._no_workers(loader, SimpleNamespace(delay=waiting, nbytes=0, asked=8, read=0), PLAIN)
    assert f"num_workers={workers}," in found.remedy
    assert found.change(PLAIN).workers == workers


def test_no_gain_is_predicted_of_workers_that_read_whole_files():
    loader = Loader([{"settings": {"workers": 0}, "training": True}], {}, {"cores": 2})
    whole = SimpleNamespace(delay=0.0, nbytes=0, asked=8, read=1 << 24)
    assert loading._no_workers(loader, whole, PLAIN).change is None


def test_the_remedy_for_repeated_samples_mends_the_script_of_the_lesson(tmp_path):
    lines = tmp_path / "train.tsv"
    lines.write_text("".join(f"{number}\ttext\n" for number in range(40)))
    script = runpy.run_path(str(ward.path("b")))
    names = {"Dataset": script["Lines"], "torch": torch, "itertools": itertools}
    exec(Finding("iterable_repeated", []).remedy, names)
    loader = torch.utils.data.DataLoader(names["Part"](lines), batch_size=None, num_workers=2)
    assert sorted(label for _, label in loader) == list(range(40))


def test_ranks_with_equal_batches_take_as_long_as_their_mean():
    assert PLAIN.scaled(0.8).step() == pytest.approx(0.8 * PLAIN.step())


def test_every_cause_names_a_section_that_exists():
    sections = {}
    for path in (COURSE / "solutions").glob("*/*.ipynb"):
        cells = json.loads(path.read_text())["cells"]
        text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        lines = [line.lstrip("# ").split(". ")[-1] for line in text.splitlines() if line.startswith("##")]
        sections[path.stem[:2]] = sections.get(path.stem[:2], []) + lines
    missing = [
        cause.lesson for cause in CAUSES.values() if cause.lesson[4:] not in sections[cause.lesson[:2]]
    ]
    assert not missing


def test_every_remedy_of_the_benchmark_applies_to_its_script():
    listed = list(cures())
    assert {cure.cause for cure in listed} <= {
        name for name, cause in CAUSES.items() if cause.kind == "speed"
    }
    for cure in listed:
        compile(cure.cured, cure.script, "exec")
        assert cure.cured != cure.script.read_text()
