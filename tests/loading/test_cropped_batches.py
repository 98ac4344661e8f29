"""Batches of crops equal a slow, plain reference, whatever the sizes, ranks, stops and damage."""

import gc
import io
import itertools
import json
import time
from dataclasses import dataclass

import numpy as np
import psutil
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torchvision.transforms.v2 import functional

from course_utils.cropping import RandomResizedCrop, Resize, ResizeCenterCrop, uniforms
from course_utils.data.pack import PackError, RawLayout
from course_utils.data.packed_images import PackedImages
from course_utils.loading.decoder_threads import running
from course_utils.loading.fast_loader import FastLoader
from tests.image_set import numbered_jpeg, numbered_pack

MOST = 1  # difference: where PyTorch lacks vectorised code for uint8, torchvision computes in float
GREY = torch.full((3, 8, 12), 99, dtype=torch.uint8)
CROPS = [
    RandomResizedCrop((8, 12)),
    RandomResizedCrop((8, 12), (0.5, 0.9), (0.2, 5), flip=0),
    ResizeCenterCrop(13, (8, 12)),
    Resize((8, 12)),
]


def reference(data, crop, seed, epoch, number):
    """Crop and resize with torchvision, from the whole image: uint8 (3, H, W)."""
    image = torch.from_numpy(np.array(Image.open(io.BytesIO(data)))).permute(2, 0, 1)
    if isinstance(crop, ResizeCenterCrop):
        return functional.center_crop(functional.resize(image, [crop.resize], antialias=True), [8, 12])
    (drawn,) = crop.draw(seed, epoch, np.array([number]))
    cut = crop.cut(*image.shape[1:], drawn)
    part = functional.resized_crop(
        image, cut.top, cut.left, cut.height, cut.width, list(cut.resized), antialias=True
    )
    return part.flip(2) if cut.is_flipped else part


@st.composite
def packs(draw):
    """Draw images of any mixture of sizes; those that are broken are None."""
    sizes = draw(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=1, max_size=14))
    broken = draw(st.sets(st.integers(0, len(sizes) - 1), max_size=len(sizes) - 1))
    return [None if i in broken else numbered_jpeg(i, size) for i, size in enumerate(sizes)]


CASES = st.fixed_dictionaries(
    {
        "images": packs(),
        "crop": st.sampled_from(CROPS),
        "world_size": st.integers(1, 3),
        "on_error": st.sampled_from(["skip", lambda error: GREY]),
        "max_broken": st.just(1),
        "batch_size": st.integers(1, 5),
        "shuffle": st.booleans(),
        "seed": st.integers(0, 9),
        "threads": st.integers(1, 3),
        "in_flight": st.integers(1, 3),
    }
)
STOPS = st.lists(st.integers(0, 3), max_size=3)  # batches to deliver before a new loader resumes


def two_epochs(path, stops, rank, **options):
    """Return the labels and images that a rank delivers in each of two epochs."""
    loader, delivered, stops = FastLoader(path, rank=rank, **options), [[], []], iter(stops)
    while (epoch := loader.state_dict()["epoch"]) < 2:
        for images, labels in itertools.islice(loader, next(stops, None)):
            delivered[epoch] += zip(labels.tolist(), images, strict=True)
        state = json.loads(json.dumps(loader.state_dict()))
        loader = FastLoader(path, rank=rank, **options)
        loader.load_state_dict(state)
    return delivered


def check_case(folder, case, stops):
    images, crop, options = case["images"], case["crop"], {**case}
    path = numbered_pack(folder / "part0.zip", [data or b"broken" for data in options.pop("images")])
    ranks = [two_epochs(path, stops, rank, **options) for rank in range(case["world_size"])]
    for epoch in range(2):
        delivered = [pair for rank in ranks for pair in rank[epoch]]
        wanted = [i for i, data in enumerate(images) if data or case["on_error"] != "skip"]
        assert sorted(label for label, _ in delivered) == wanted
        for label, image in delivered:
            data = images[label]
            expected = reference(data, crop, case["seed"], epoch, label) if data else GREY
            assert (image.int() - expected.int()).abs().max() <= MOST


@settings(max_examples=20)
@given(CASES, STOPS)
def test_each_image_comes_once_with_the_pixels_of_the_reference(tmp_path_factory, case, stops):
    check_case(tmp_path_factory.mktemp("pack"), case, stops)


@pytest.mark.proof
@settings(max_examples=500)
@given(CASES, STOPS)
def test_each_image_comes_once_in_many_cases(tmp_path_factory, case, stops):
    check_case(tmp_path_factory.mktemp("pack"), case, stops)


@pytest.fixture
def path(tmp_path):
    images = [numbered_jpeg(i, (30 + 5 * i, 60 - 2 * i)) for i in range(12)]
    return numbered_pack(tmp_path / "part0.zip", images)


def test_crops_depend_neither_on_order_nor_on_ranks_nor_on_threads(path):
    def by_label(loaders):
        return {
            label: image
            for loader in loaders
            for images, labels in loader
            for label, image in zip(labels.tolist(), images, strict=True)
        }

    crop = CROPS[0]
    one = by_label([FastLoader(path, 12, crop=crop, seed=3)])
    ranks = [
        FastLoader(path, 2, crop=crop, seed=3, rank=r, world_size=3, shuffle=True, threads=4)
        for r in range(3)
    ]
    others = by_label(ranks)
    assert all(torch.equal(one[label], others[label]) for label in range(12))
    second_epoch, other_seed = by_label(ranks), by_label([FastLoader(path, 12, crop=crop, seed=4)])
    for changed in (second_epoch, other_seed):
        assert not any(torch.equal(one[label], changed[label]) for label in range(12))


@dataclass(frozen=True)
class Tagged:
    """A random transform whose result tells what it has drawn, and for which sample."""

    def draw(self, seed, epoch, samples):
        return uniforms(seed, epoch, samples, 1, purpose=9)[:, 0]

    def __call__(self, images, drawn):
        return torch.from_numpy(drawn)


@settings(max_examples=20)
@given(CASES, STOPS)
def test_random_transforms_depend_neither_on_order_nor_on_ranks_nor_on_resuming(
    tmp_path_factory, case, stops
):
    images, seed = case["images"], case["seed"]
    path = numbered_pack(
        tmp_path_factory.mktemp("pack") / "part0.zip", [data or b"broken" for data in images]
    )
    options = {key: value for key, value in case.items() if key != "images"} | {"transform": Tagged()}
    ranks = [two_epochs(path, stops, rank, **options) for rank in range(case["world_size"])]
    for epoch in range(2):
        expected = uniforms(seed, epoch, np.arange(len(images)), 1, purpose=9)[:, 0]
        for label, drawn in (pair for rank in ranks for pair in rank[epoch]):
            assert drawn == expected[label]


@pytest.mark.parametrize("order", ["HWC", "CHW"])
def test_raw_members_are_cropped_alike(tmp_path, order):
    pixels = np.random.default_rng(0).integers(0, 256, (6, 40, 30, 3), np.uint8)
    raw = [(p if order == "HWC" else p.transpose(2, 0, 1)).tobytes() for p in pixels]
    layout = RawLayout(order, (40, 30, 3) if order == "HWC" else (3, 40, 30))
    path = numbered_pack(tmp_path / "raw.zip", raw, layout=layout)
    for crop in CROPS:
        ((images, _),) = FastLoader(path, 6, crop=crop)
        for i, image in enumerate(images):
            png = io.BytesIO()
            Image.fromarray(pixels[i]).save(png, "PNG")
            expected = reference(png.getvalue(), crop, 0, 0, i)
            assert (image.int() - expected.int()).abs().max() <= MOST


def test_kept_batches_share_no_memory(path):
    kept = list(FastLoader(path, 5, crop=CROPS[0]))
    copies = [images.clone() for images, _ in kept]
    kept += list(FastLoader(path, 5, crop=CROPS[0]))
    assert len({images.untyped_storage().data_ptr() for images, _ in kept}) == len(kept)
    assert all(torch.equal(images, copy) for (images, _), copy in zip(kept, copies, strict=False))


def test_flipped_byte_is_an_error_or_changes_nothing(tmp_path):
    """Anywhere in the file; the crops are those of a first epoch."""
    path = numbered_pack(tmp_path / "a.zip", [numbered_jpeg(i, (30 + 5 * i, 60)) for i in range(4)])

    def crops():
        images = PackedImages(path)
        found = np.full((len(images), 8, 12, 3), 173, np.uint8)
        for i, drawn in enumerate(CROPS[0].draw(0, 0, np.arange(len(images)))):
            images.read_cut_into(
                i, lambda height, width, drawn=drawn: CROPS[0].cut(height, width, drawn), found[i]
            )
        return found, images.labels

    whole, expected = path.read_bytes(), crops()
    rng, raised = np.random.default_rng(1), 0
    for position in rng.integers(0, len(whole), 200):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << int(rng.integers(8))
        path.write_bytes(damaged)
        try:
            for found, truth in zip(crops(), expected, strict=True):
                assert np.array_equal(found, truth), position
        except PackError:
            raised += 1
    assert raised > 100


@pytest.mark.proof
def test_damaged_files_never_crash_the_decoder_without_checksums(path):
    """They give other pixels or an error; a crash would end the process."""
    rng, images, raised = np.random.default_rng(2), [numbered_jpeg(i, (90, 70)) for i in range(20)], 0
    for _ in range(200):
        damaged = [bytearray(data) for data in images]
        for data in damaged:
            for position in rng.integers(2, len(data), rng.integers(1, 4)):
                data[position] = rng.integers(256)
        path = numbered_pack(path, damaged)
        loader = FastLoader(path, 20, crop=CROPS[0], verify=False, on_error="skip", max_broken=1)
        try:
            raised += 20 - sum(len(labels) for _, labels in loader)
        except PackError:
            raised += 20
    assert 100 < raised < 3900


@pytest.mark.proof
def test_ten_thousand_iterations_leak_nothing(path):
    loader, process = FastLoader(path, 12, crop=CROPS[0], shuffle=True), psutil.Process()
    sizes = []
    for iteration in range(10_000):
        for images, _ in loader:
            assert images.shape == (12, 3, 8, 12)
            if iteration % 3 == 0:
                break
        if iteration in (2000, 9999):
            gc.collect()
            while running:  # threads of an iteration that was broken off end by themselves
                time.sleep(0.01)
            sizes.append((process.memory_info().rss, process.num_fds()))
    (early, descriptors), (late, descriptors_late) = sizes
    assert late - early < 4 << 20
    assert descriptors == descriptors_late
