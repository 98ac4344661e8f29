"""Tests of the loading benchmark, with the loaders that need no further library."""

import json

import pytest

from tests.bench.loading.child import measure
from tests.bench.loading.peer import peers
from tests.bench.loading.report import plot, table
from tests.image_set import numbered_jpeg

COURSE = [
    name for name in peers() if name.startswith(("FastLoader", "JPEG files", "stored zip", "memory map"))
]


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("originals")
    for i in range(5):
        (folder / f"img{i:08d}.JPEG").write_bytes(numbered_jpeg(i, (16, 16)))
    return folder


@pytest.mark.filterwarnings("ignore:.*TorchVision are deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", COURSE)
def test_loaders_yield_the_reference_images(tmp_path, originals, name):
    peer = peers()[name]
    peer.write([path.read_bytes() for path in sorted(originals.iterdir())], tmp_path)
    spec = {"folder": str(tmp_path), "originals": str(originals), "cores": 1, "batch_size": 2}
    result = measure(peer, spec | {"epochs": 1, "verify": True})
    assert result["complete"]
    assert result["dtype"] == f"torch.{peer.output}"
    assert result["shape"] == (3, 16, 16)
    assert result["max_difference"] <= 2


def test_table_and_plot_report_measured_and_missing_loaders(tmp_path):
    measured = {"warm": 100.0, "cold": 50.0, "first_s": 0.1, "memory_mib": 10.0}
    rows = [
        {"loader": name, "cores": cores, "round": number} | measured | {"warm": 100.0 + number}
        for name in ("FastLoader, JPEG", "limit: simplejpeg alone")
        for cores in (1, 2)
        for number in range(3)
    ]
    report = {
        "images": 7,
        "batch_size": 2,
        "rounds": 3,
        "rows": rows,
        "operations": {"FastLoader, JPEG": {"pread64": 7}},
    }
    report |= {"decoders": dict.fromkeys(["FastLoader, JPEG", "limit: simplejpeg alone"], "simplejpeg")}
    report |= {"missing": {"FFCV": "ModuleNotFoundError: No module named 'ffcv'"}}
    text = table(json.loads(json.dumps(report)))
    assert "Not measured: FFCV: ModuleNotFoundError" in text
    assert "7 pread64" in text
    assert "(100-102)" in text
    plot(report, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000
