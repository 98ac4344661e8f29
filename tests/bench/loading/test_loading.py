"""The benchmark itself, with the loaders that need no library of their own."""

import json

import pytest

from tests.bench.loading.child import measure
from tests.bench.loading.peer import peers
from tests.bench.loading.report import plot, table
from tests.loading.test_fast_loader import jpeg

OURS = [name for name in peers() if name.startswith(("FastLoader", "JPEG files", "stored zip", "memory map"))]


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("originals")
    for i in range(5):
        (folder / f"img{i:08d}.JPEG").write_bytes(jpeg(i, (16, 16)))
    return folder


@pytest.mark.filterwarnings("ignore:.*TorchVision are deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", OURS)
def test_loaders_give_the_same_images(tmp_path, originals, name):
    peer = peers()[name]
    peer.write([path.read_bytes() for path in sorted(originals.iterdir())], tmp_path)
    spec = {"folder": str(tmp_path), "originals": str(originals), "cores": 1, "batch_size": 2}
    seen = measure(peer, spec | {"epochs": 1, "prove": True})
    assert seen["complete"]
    assert seen["dtype"] == f"torch.{peer.output}"
    assert seen["shape"] == (3, 16, 16)
    assert seen["largest"] <= 2


def test_table_and_plot_tell_what_is_missing(tmp_path):
    seen = {"warm": 100.0, "cold": 50.0, "first_s": 0.1, "memory_mib": 10.0}
    rows = [
        {"loader": name, "cores": cores, "round": number} | seen | {"warm": 100.0 + number}
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
