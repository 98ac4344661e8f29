"""Tests of the loading benchmark, with the loaders that need no further library."""

import io
import json
import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from torchvision.transforms import RandomResizedCrop

from course_utils.loading import batch_decoder
from course_utils.storage import page_cache
from tests.bench import loader
from tests.bench.loading import cold_epochs, crop_parameters
from tests.bench.loading.child import measure, seen
from tests.bench.loading.peer import peers
from tests.bench.loading.report import plot, table
from tests.image_set import numbered_jpeg

COURSE = [
    name
    for name, peer in peers().items()
    if name.startswith(("FastLoader", "JPEG files", "stored zip", "memory map")) and "crops" not in peer.work
]
LIMIT = "limit: simplejpeg alone"
CROPS = [name for name in peers() if name.startswith(("FastLoader, crops", "DataLoader, v2"))]
# For float batches, the DataLoader's crops are drawn as for those of bytes, and converted afterwards.
DRAWN = [name for name in CROPS if not name.startswith("DataLoader")]  # those are torchvision's own


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    folder = tmp_path_factory.mktemp("originals")
    for i in range(5):
        (folder / f"img{i:08d}.JPEG").write_bytes(numbered_jpeg(i, (16, 16)))
    return folder


@pytest.mark.filterwarnings("ignore:.*TorchVision are deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", COURSE)
def test_loaders_yield_the_reference_images(tmp_path, originals, monkeypatch, name):
    monkeypatch.setattr(batch_decoder, "read_ahead", batch_decoder.read_ahead)  # one of them removes it
    peer = peers()[name]
    peer.write([path.read_bytes() for path in sorted(originals.iterdir())], tmp_path)
    spec = {"folder": str(tmp_path), "originals": str(originals), "cores": 1, "batch_size": 2}
    result = measure(peer, spec | {"epochs": 1, "verify": True})
    assert result["complete"]
    assert result["dtype"] == f"torch.{peer.output}"
    assert result["shape"] == (3, 16, 16)
    assert result["max_difference"] <= 2


def test_table_and_plot_report_measured_and_missing_loaders(tmp_path):
    measured = {"warm": 100.0, "cold": 50.0, "first_s": 0.1, "memory_mib": 10.0, "resident": 0.0}
    rows = [
        {"loader": name, "cores": cores, "round": number} | measured | {"warm": warm + number}
        for name, warm in (("FastLoader, JPEG", 100.0), ("DALI", 125.0), (LIMIT, 200.0))
        for cores in (1, 2)
        for number in range(3)
    ]
    report = {
        "work": "images",
        "images": 7,
        "batch_size": 2,
        "rounds": 3,
        "rows": rows,
        "crops": {},
        "uncached": "no disk",
        "operations": {"FastLoader, JPEG": {"pread64": 7}},
        "decoder": dict.fromkeys(["FastLoader, JPEG", "DALI", LIMIT], "simplejpeg"),
        "output": dict.fromkeys(["FastLoader, JPEG", "DALI", LIMIT], "uint8"),
        "missing": {"FFCV": "ModuleNotFoundError: No module named 'ffcv'"},
    }
    text = table(json.loads(json.dumps(report)))
    assert "Not measured: FFCV: ModuleNotFoundError" in text
    assert "7 pread64" in text
    assert "(100-102)" in text
    assert "slower than DALI, which is 1.25 times as fast" in text
    assert "uint8, cold: FastLoader is 1.00 times as fast as DALI" in text
    assert "not known here (no disk)" in text
    plot(report, tmp_path / "plot.png")
    assert (tmp_path / "plot.png").stat().st_size > 10_000


def test_part_shown_by_a_crop_is_read_from_its_pixels():
    width, height = crop_parameters.CHARTS[0]
    with Image.open(io.BytesIO(crop_parameters.chart(width, height))) as image:
        box = (100, 30, 350, 330)
        crop = np.asarray(image.resize((224, 224), Image.Resampling.BILINEAR, box=box)).transpose(2, 0, 1)
    *part, flipped = crop_parameters.shown_part(crop, width, height)
    assert part == pytest.approx([100, 30, 250, 300], abs=0.5)
    assert not flipped
    assert crop_parameters.shown_part(crop[..., ::-1], width, height)[4]


@pytest.fixture(scope="module")
def wanted():
    torch.manual_seed(0)
    return crop_parameters.quantities(crop_parameters.reference_parts(500, 375), 500, 375)


def drawn(scale, ratio=(3 / 4, 4 / 3), count=800):
    image = torch.empty(3, 375, 500)
    for number in range(count):
        top, left, h, w = RandomResizedCrop.get_params(image, list(scale), list(ratio))
        yield left, top, w, h, number % 2 == 0


@pytest.mark.parametrize(
    ("scale", "ratio", "far"),
    [
        ((0.08, 1.0), (3 / 4, 4 / 3), set()),
        ((0.2, 1.0), (3 / 4, 4 / 3), {"area"}),
        ((0.08, 1.0), (0.8, 1.25), {"aspect"}),
    ],
)
def test_crops_of_another_distribution_are_noticed(wanted, scale, ratio, far):
    torch.manual_seed(1)
    found = crop_parameters.quantities(drawn(scale, ratio), 500, 375)
    distances = {name: crop_parameters.distance(found[name], wanted[name]) for name in wanted}
    assert {name for name in ("area", "aspect") if distances[name] > 1} == far


@pytest.mark.filterwarnings("ignore:.*TorchVision are deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", CROPS)
def test_loaders_yield_crops_of_all_images(tmp_path, originals, name):
    peer = peers()[name]
    peer.write([path.read_bytes() for path in sorted(originals.iterdir())], tmp_path)
    result = seen(peer.batches(tmp_path, 1, 2), {"originals": str(originals)})
    assert result == {"complete": True, "dtype": f"torch.{peer.output}", "shape": (3, 224, 224)}


@pytest.mark.proof
@pytest.mark.filterwarnings("ignore:.*TorchVision are deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", DRAWN)
def test_crops_are_distributed_as_torchvisions(tmp_path, name):
    peer = peers()[name]
    peer.write(crop_parameters.charts(), tmp_path)
    distances = crop_parameters.compare(peer.batches(tmp_path, 1, 64))
    assert max(distances.values()) <= 1, distances


def test_cold_epochs_are_compared_with_the_warm_ones_around(tmp_path, image_set, monkeypatch):
    shards = [Path(shutil.copy(image_set / "zip_encoded" / "part0.zip", tmp_path))]
    if reason := page_cache.why_not_measurable(shards):
        pytest.skip(reason)
    speeds, epoch = iter([9, 1, 2, 3, 6, 5]), cold_epochs._epoch
    cached = []

    def timed(loader):
        cached.append(page_cache.resident(shards).fraction)
        epoch(loader)
        seconds = next(speeds)
        return cold_epochs.Epoch(seconds, 2 * seconds)

    monkeypatch.setattr(cold_epochs, "_epoch", timed)
    found = cold_epochs.measure(shards, cold_epochs.Work(full_size=False), 2)
    assert found["speed"] == found["busy"] == [(1 + 3) / 2 / 2, (3 + 5) / 2 / 6]
    assert cached[2] == cached[4] == 0
    assert min(cached[1], cached[3], cached[5]) > 0.8
    assert cold_epochs.row("decoded", found).count("|") == 6


@pytest.mark.parametrize("mode", ["--checksums", "--cold"])
def test_options_that_a_mode_ignores_are_refused(capsys, mode):
    assert loader.parse([mode, "--rounds", "2", "--record"]).rounds == 2
    with pytest.raises(SystemExit):
        loader.parse([mode, "--images", "10", "--batch-size", "8"])
    assert "leave out --images, --batch-size" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--delayed", "--checksums"], "leave out --delayed"),
        (["--imagenet-sizes"], "add --crops"),
        (["--delayed", "--rounds", "0"], "add --crops"),
        (["--only", "nothing"], "no loader"),
        (["--cores", "0"], "invalid positive value"),
        (["--delayed", "--crops"], "not allowed with"),
    ],
)
def test_options_that_contradict_are_refused(capsys, options, told):
    with pytest.raises(SystemExit):
        loader.parse(options)
    assert told in capsys.readouterr().err


@pytest.mark.parametrize("mapped", [False, True])
def test_cold_epoch_is_a_later_one_unless_the_files_stay_mapped(tmp_path, originals, monkeypatch, mapped):
    peer = peers()["FastLoader, JPEG"]
    peer.write([path.read_bytes() for path in sorted(originals.iterdir())], tmp_path)
    shares = iter([0.0, 1.0 if mapped else 0.0])
    monkeypatch.setattr(page_cache, "evict", lambda files: page_cache.CacheState(10, 10 * next(shares)))
    spec = {"folder": str(tmp_path), "originals": str(originals), "cores": 1, "batch_size": 2}
    result = measure(peer, spec | {"epochs": 1, "verify": False})
    assert (result["cold"] == result["first_epoch"]) is mapped


def test_limit_from_a_pack_reads_each_image(tmp_path, originals):
    peer = peers()["limit: simplejpeg from a pack"]
    peer.write([path.read_bytes() for path in sorted(originals.iterdir())], tmp_path)
    limit = peer.batches(tmp_path, 2, 2)
    try:
        assert [len(numbers) for numbers, _ in limit] == [5]
    finally:
        limit.pool.terminate()
