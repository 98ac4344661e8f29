"""The book shows what was recorded of random crops, and say where a peer wins."""

import json

import pytest

from tests.bench.crop_record import plot, ratios, text
from tests.bench.crop_record.record import LARGE, SMALL, recorded
from tests.bench.recording.notebook import read_optional_cell

SPEEDS = {  # in two rounds: warm, cold
    "FastLoader, crops": ((600, 500), (300, 200)),
    "FastLoader, crops, float": ((400, 300), (300, 200)),
    "DALI, CPU, crops": ((300, 250), (350, 250)),
    "FFCV, crops, float": ((399, 301), (100, 100)),
    "limit: crops alone": ((1000, 1000), (1000, 1000)),
    "limit: what crops need": ((1200, 1200), (1200, 1200)),
    "limit: simplejpeg alone": ((800, 800), (800, 800)),
}


@pytest.fixture(scope="module")
def record():
    rows = [
        {
            "loader": name,
            "cores": cores,
            "round": number,
            "warm": cores * warm[number],
            "cold": cores * cold[number],
        }
        | {"first_s": 0.5, "compile_s": 8.0 * name.startswith("FFCV"), "memory_mib": 100.0, "resident": 0.0}
        for cores in (1, 2)
        for number in range(2)
        for name, (warm, cold) in SPEEDS.items()
    ]
    made = {
        "made": "2026-01-02",
        "machine": "Linux, a machine",
        "python": "3.11.7",
        "versions": {"torch": "2"},
    }
    report = made | {"data": "", "images": 400, "batch_size": 64, "rounds": 2, "uncached": "", "rows": rows}
    report |= {"missing": {"Grain, crops": "No module named 'grain'"}, "cold_epoch": "the first one"}
    report["crops"] = {name: {"area": 0.5, "flip": 2.0 if "DALI" in name else 0.1} for name in SPEEDS}
    report["decoder"] = dict.fromkeys(SPEEDS, "own")
    report["output"] = {name: "float32" if "float" in name else "uint8" for name in SPEEDS}
    return json.loads(json.dumps(recorded(report)))


@pytest.mark.parametrize("files", [SMALL, LARGE], ids=["small", "large"])
def test_page_and_figure_show_the_record(files):
    wanted = json.loads(files.record.read_text())
    assert files.page.read_text() == text.page(wanted, files.figure.name)
    assert plot.fingerprint(wanted) in files.figure.read_text()


@pytest.mark.parametrize("files", [SMALL, LARGE], ids=["small", "large"])
def test_optional_notebook_of_lesson_03_shows_the_parts_of_the_limit(files):
    wanted = json.loads(files.record.read_text())
    words = read_optional_cell("03_gpu_pipelining", "loader-words")
    own, other, *_ = ratios.loaders(wanted, "uint8")
    parts = [ratios.limit_ratio(wanted, row, "warm").text() for row in (own, other)]
    assert own["loader"].startswith("FastLoader")
    assert parts[0] in words
    assert f"({ratios.short_name(other['loader'])}) {parts[1]}" in words


def test_record_holds_every_round_on_all_cores(record):
    assert record["cores"] == 2
    assert ratios.by_name(record)["DALI, CPU, crops"]["cold"] == [700, 500]


def test_ratios_are_those_of_one_round_each(record):
    row = ratios.by_name(record)["FastLoader, crops"]
    assert ratios.limit_ratio(record, row, "warm").text() == "0.55 (0.50 to 0.60)"
    assert ratios.own_ratio(record, "uint8", "warm") == ("DALI, CPU", (2.0, 2.0, 2.0))


def test_texts_say_where_a_peer_wins_and_where_rounds_disagree(record):
    told = text.page(record, "crops.svg")
    assert "uint8, warm: 2.00 times as fast as DALI, CPU, the fastest other loader." in told
    assert "uint8, cold: slower than DALI, CPU, which is 1.21 (1.17 to 1.25) times as fast." in told
    assert "float32, warm: level with FFCV, at a ratio of 1.00 (1.00 to 1.00)." in told


def test_page_names_environment_limits_compiling_and_what_is_missing(record):
    told = text.page(record, "crops.svg")
    assert "2026-01-02, Linux, a machine, Python 3.11.7, torch 2" in told
    assert "resizes them with PyTorch: 2,000 images/s; another one decodes only the" in told
    assert "decodes whole images: 1,600 images/s." in told
    assert "for 8 s, which are not included" in told
    assert "Not distributed as torchvision's are the crops of DALI, CPU, crops." in told
    assert "Grain, crops (No module named 'grain')" in told


def test_figure_is_reproducible_and_names_its_record(record, tmp_path):
    for name in ("one.svg", "other.svg"):
        plot.plot(record, tmp_path / name)
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "other.svg").read_bytes()
    assert plot.fingerprint(record) in (tmp_path / "one.svg").read_text()
