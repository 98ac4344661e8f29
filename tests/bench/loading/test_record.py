"""The book shows the recorded ratios of loaders to their limit."""

import json

from tests.bench.loading.record import PAGE, RECORD, page, recorded, rows

WANTED = json.loads(RECORD.read_text())


def test_page_shows_the_record():
    assert PAGE.read_text() == page(WANTED)
    assert WANTED["made"] in page(WANTED)


def test_every_recorded_loader_decodes_and_is_compared_with_a_limit():
    assert any(row["loader"].startswith("FastLoader") for row in WANTED["loaders"])
    assert not any("limit" in row["loader"] or row["decoder"] == "pixels" for row in WANTED["loaders"])
    assert all(row["warm"] > 0 and row["cold"] > 0 for row in WANTED["loaders"])


def test_record_holds_ratios_on_all_cores():
    limit = "limit: simplejpeg alone"
    speeds = {
        "FastLoader, JPEG": (90, 45),
        "DALI, CPU": (50, 20),
        "FastLoader, raw": (900, 90),
        limit: (100, 99),
    }
    measured = [
        {"loader": name, "cores": cores, "round": 0, "warm": cores * warm, "cold": cores * cold}
        for name, (warm, cold) in speeds.items()
        for cores in (1, 2)
    ]
    kept = ("made", "machine", "python", "versions", "images", "batch_size", "cold_epoch")
    report = {key: WANTED[key] for key in kept} | {
        "work": "images",
        "rounds": 1,
        "rows": measured,
        "missing": {"FFCV": "No module named 'ffcv'"},
    }
    report["output"] = dict.fromkeys(speeds, "uint8")
    report["decoder"] = dict.fromkeys(speeds, "simplejpeg") | {
        "DALI, CPU": "own",
        "FastLoader, raw": "pixels",
    }
    record = recorded(report)
    assert record["cores"] == 2
    assert rows(record) == [
        "| FastLoader, JPEG | simplejpeg | 0.90 | 0.45 |",
        "| DALI, CPU | own | 0.50 | 0.20 |",
    ]
    assert "Not measured here: FFCV." in page(record)
