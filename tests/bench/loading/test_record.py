"""The book shows the recorded ratios of loaders to their limit."""

import json
import re

from tests.bench.loading.record import FROM_A_PACK, PAGE, RECORD, page, recorded, rows
from tests.bench.loading.report import INTO_BATCHES
from tests.bench.recording.notebook import read_optional_cell
from tests.bench.recording.spread import Spread

WANTED = json.loads(RECORD.read_text())


def test_page_shows_the_record():
    assert PAGE.read_text() == page(WANTED)
    assert WANTED["made"] in page(WANTED)


def test_optional_notebook_of_lesson_03_shows_the_record():
    text = read_optional_cell("03_gpu_pipelining", "loader-words")
    shown = re.findall("^[|] (?:FastLoader|FFCV|DALI).* s [|]$", text, re.MULTILINE)
    in_full = (row.split(" | ") for row in rows(WANTED))
    of_page = [" | ".join([name, *ratios]) for name, _, _, *ratios in in_full]
    assert len(shown) == 5
    assert {row.replace(" s |", " |") for row in shown} <= {*of_page}
    assert WANTED["made"] in text
    assert Spread(*WANTED["from_a_pack"][0]).text() in text


def test_every_recorded_loader_decodes_and_is_compared_with_a_limit():
    assert any(row["loader"].startswith("FastLoader") for row in WANTED["loaders"])
    assert not any("limit" in row["loader"] or row["decoder"] == "pixels" for row in WANTED["loaders"])
    assert all(median > 0 for row in WANTED["loaders"] for median, *_ in [*row["warm"], *row["cold"]])


def test_record_holds_ratios_on_each_number_of_cores():
    speeds = {
        "FastLoader, JPEG": (90, 45),
        "DALI, CPU": (50, 20),
        "FastLoader, raw": (900, 90),
        INTO_BATCHES: (100, 99),
        FROM_A_PACK: (96, 95),
    }
    measured = [
        {"loader": name, "cores": cores, "round": number, "first_s": 0.5}
        | {"warm": cores * warm + number, "cold": cores * cold}
        for name, (warm, cold) in speeds.items()
        for cores in (1, 2)
        for number in (0, 10)
    ]
    kept = ("made", "machine", "python", "versions", "images", "batch_size", "cold_epoch")
    report = {key: WANTED[key] for key in kept} | {
        "work": "images",
        "rounds": 2,
        "rows": measured,
        "missing": {"FFCV": "No module named 'ffcv'"},
    }
    report["output"] = dict.fromkeys(speeds, "uint8")
    report["decoder"] = dict.fromkeys(speeds, "simplejpeg") | {
        "DALI, CPU": "own",
        "FastLoader, raw": "pixels",
    }
    record = json.loads(json.dumps(recorded(report)))
    assert rows(record) == [
        "| FastLoader, JPEG | uint8 | simplejpeg | 0.90 (0.90 to 0.91) | 0.43 (0.41 to 0.45) "
        "| 0.90 | 0.44 (0.43 to 0.45) | 0.50 |",
        "| DALI, CPU | uint8 | own | 0.52 (0.50 to 0.55) | 0.19 (0.18 to 0.20) "
        "| 0.51 (0.50 to 0.52) | 0.20 (0.19 to 0.20) | 0.50 |",
    ]
    assert "105 images/s on 1 core and 205 images/s on 2 cores" in page(record)
    assert "reaches 0.96 on 1 core and 0.96 on 2 cores of the limit" in page(record)
    assert "Not measured here: FFCV." in page(record)
