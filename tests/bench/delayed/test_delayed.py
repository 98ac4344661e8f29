"""Files with a delay are the same, epochs from them can be cold, and the book shows what was measured."""

import json
from importlib.util import find_spec

import pytest

from course_utils.storage import page_cache
from tests.bench.delayed.mount import DELAY_S, largest, mounted, request_ms, trust_page_cache
from tests.bench.delayed.record import PAGE, RECORD, page, recorded
from tests.bench.loading.report import INTO_BATCHES
from tests.bench.recording.notebook import read_optional_cell
from tests.bench.recording.spread import Spread


@pytest.fixture
def delayed(tmp_path, monkeypatch):
    if find_spec("mfusepy") is None:
        pytest.skip("mfusepy, which is for Linux alone, is not installed")
    monkeypatch.setattr(page_cache, "MEASURABLE", dict(page_cache.MEASURABLE))
    folder = tmp_path / "files"
    (folder / "inner").mkdir(parents=True)
    (folder / "small").write_bytes(b"abc")
    (folder / "inner" / "large").write_bytes(bytes(range(256)) * 20_000)
    try:
        with mounted(folder):
            yield folder
    except RuntimeError as error:
        pytest.skip(str(error))
    assert (folder / "small").read_bytes() == b"abc"
    (folder / "new").touch()


def test_delayed_files_are_the_same_and_cannot_be_written(delayed):
    assert sorted(path.name for path in delayed.rglob("*")) == ["inner", "large", "small"]
    assert largest(delayed).read_bytes() == bytes(range(256)) * 20_000
    with pytest.raises(OSError, match="Read-only"):
        (delayed / "small").write_bytes(b"")
    with pytest.raises(FileNotFoundError):
        (delayed / "none").read_bytes()


def test_cache_of_delayed_files_is_measured_and_emptied(delayed):
    file = largest(delayed)
    assert page_cache.why_not_measurable(file).startswith("FUSE")
    trust_page_cache()
    file.read_bytes()
    assert page_cache.resident(file).fraction == 1
    assert page_cache.evict(file).fraction == 0
    assert request_ms(file) >= 1000 * DELAY_S


def test_what_is_no_folder_is_refused(tmp_path):
    with pytest.raises(NotADirectoryError, match="none is no folder"), mounted(tmp_path / "none"):
        pass


def test_page_shows_the_record():
    wanted = json.loads(RECORD.read_text())
    assert PAGE.read_text() == page(wanted)
    assert {"FastLoader, shuffled", "FFCV, shuffled"} <= {row["loader"] for row in wanted["loaders"]}


def test_optional_notebook_of_lesson_03_shows_the_record():
    wanted = json.loads(RECORD.read_text())
    one = wanted["cores"].index(1)
    text = read_optional_cell("03_gpu_pipelining", "loader-words")
    parts = {
        row["loader"]: [Spread(*row[when][one]).text() for when in ("warm", "cold")]
        for row in wanted["loaders"]
    }
    shown = [f"| {' | '.join([name, *both])} |" for name, both in parts.items() if "shuffled" in name]
    assert len(shown) == 6
    assert all(row in text for row in shown)
    assert f"takes a millisecond ({wanted['made']})" in text


def test_record_compares_with_the_limit_and_keeps_the_time_of_a_request():
    wanted = json.loads(RECORD.read_text())
    row = {"cores": 2, "round": 0, "first_s": 0.5}
    kept = ("made", "machine", "python", "versions", "images", "batch_size", "cold_epoch")
    report = {key: wanted[key] for key in kept} | {"work": "delayed", "rounds": 1, "request_ms": 1.234}
    speeds = {"FastLoader, shuffled": (90, 60), INTO_BATCHES: (100, 100)}
    report["rows"] = [row | {"loader": name, "warm": w, "cold": c} for name, (w, c) in speeds.items()]
    report |= {"missing": {"FFCV, shuffled": "no module"}}
    report["decoder"] = dict.fromkeys(speeds, "simplejpeg")
    report["output"] = dict.fromkeys(speeds, "uint8")
    told = page(json.loads(json.dumps(recorded(report))))
    assert "| loader | batch | decoder | cached, 2 cores | 1 ms, 2 cores | first batch, s |" in told
    assert "| FastLoader, shuffled | uint8 | simplejpeg | 0.90 | 0.60 | 0.50 |" in told
    assert "takes 1.2 ms here" in told
    assert "Not measured here: FFCV, shuffled." in told
