import ast
import gc
import io
import json
import math
import os
import re
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from course_utils.cropping import RandomResizedCrop, Resize, ResizeCenterCrop
from course_utils.data import ZIPDataset
from course_utils.data.pack import PackError, RawLayout
from course_utils.loading.batch_transforms import FlipAndNormalize
from course_utils.loading.buffer_pool import BufferPool
from course_utils.loading.decoder_threads import running
from course_utils.loading.fast_loader import FastLoader
from course_utils.measure.loader_benchmark import benchmark
from tests.image_set import numbered_jpeg, numbered_pack
from tests.whole import few

POISON = 173
FDS = Path("/proc/self/fd")


@pytest.fixture
def path(tmp_path):
    return numbered_pack(tmp_path / "part0.zip", [numbered_jpeg(i) for i in range(23)])


@pytest.fixture(autouse=True)
def _poisoned(monkeypatch):
    take = BufferPool.take
    monkeypatch.setattr(BufferPool, "take", lambda self: take(self).fill_(POISON))


def labels_of(batches):
    return [labels.tolist() for _, labels in batches]


def test_returns_the_same_samples_as_the_dataset(path):
    dataset = ZIPDataset(path, load_encoded=True)
    seen = 0
    for images, labels in FastLoader(path, 5):
        assert images.dtype == torch.uint8
        assert images.is_contiguous(memory_format=torch.channels_last)
        for image, label in zip(images, labels.tolist(), strict=True):
            expected, expected_label = dataset[seen]
            assert label == expected_label == seen
            assert (image.int() - expected.int()).abs().max() <= 2
            seen += 1
    assert seen == len(dataset)


@pytest.mark.parametrize("order", ["HWC", "CHW"])
def test_raw_members_of_both_layouts(tmp_path, order):
    pixels = np.random.default_rng(0).integers(0, 256, (7, 5, 4, 3), np.uint8)
    raw = [(p if order == "HWC" else p.transpose(2, 0, 1)).tobytes() for p in pixels]
    shape = (5, 4, 3) if order == "HWC" else (3, 5, 4)
    path = numbered_pack(tmp_path / "raw.zip", raw, layout=RawLayout(order, shape))
    images = torch.cat([images for images, _ in FastLoader(path, 3)])
    assert torch.equal(images, torch.from_numpy(pixels).permute(0, 3, 1, 2))


def test_shards_are_merged_in_the_order_of_the_names(tmp_path):
    shards = [
        numbered_pack(tmp_path / f"{n}.zip", [numbered_jpeg(i) for i in range(start, start + 4)], start)
        for n, start in enumerate((8, 0, 4))
    ]
    assert labels_of(FastLoader(shards, 12)) == [list(range(12))]


def test_kept_batch_is_never_overwritten(path):
    together = list(FastLoader(path, 4))
    one_by_one = [(images.clone(), labels) for images, labels in FastLoader(path, 4)]
    for (kept, _), (seen, _) in zip(together, one_by_one, strict=True):
        assert torch.equal(kept, seen)


def test_memory_is_that_of_a_few_batches(path, monkeypatch):
    allocated, allocate = [], BufferPool._allocate
    monkeypatch.setattr(BufferPool, "_allocate", lambda pool: allocated.append(1) or allocate(pool))
    batches = 0
    for _ in range(3):
        for _ in FastLoader(path, 1, in_flight=3, threads=2):
            batches += 1
    # Three in flight, one delivered, one held by this loop, and one that each thread still references.
    assert 3 * 3 <= len(allocated) <= 3 * (3 + 2 + 2) < batches


def test_transform_is_applied_to_whole_batch(path):
    loader = FastLoader(path, 10, transform=lambda images: images.float() / 255)
    assert [images.shape for images, _ in loader] == [(10, 3, 16, 24), (10, 3, 16, 24), (3, 3, 16, 24)]
    assert next(iter(loader))[0].dtype == torch.float32


def test_order_is_reproducible_and_differs_between_epochs(path):
    loader, again = (FastLoader(path, 23, shuffle=True, seed=4) for _ in range(2))
    orders = [labels_of(loader)[0] for _ in range(3)]
    assert [sorted(order) for order in orders] == [list(range(23))] * 3
    assert orders[0] != orders[1] != orders[2] != orders[0]
    assert orders == [labels_of(again)[0] for _ in range(3)]
    assert orders[0] != labels_of(FastLoader(path, 23, shuffle=True, seed=5))[0]


settings_of_loaders = st.fixed_dictionaries(
    {
        "batch_size": st.integers(1, 8),
        "shuffle": st.booleans(),
        "drop_last": st.booleans(),
        "seed": st.integers(0, 9),
        "threads": st.integers(1, 3),
        "in_flight": st.integers(1, 4),
    }
)


@settings(max_examples=80)
@given(
    images=st.integers(1, 23),
    broken=st.sets(st.integers(0, 22), max_size=6),
    world_size=st.integers(1, 4),
    options=settings_of_loaders,
    stops=st.lists(st.integers(0, 6), max_size=6),
)
def test_resumed_epochs_equal_uninterrupted_ones(
    tmp_path_factory, images, broken, world_size, options, stops
):
    members = [b"broken" if i in broken else numbered_jpeg(i) for i in range(images)]
    path = numbered_pack(tmp_path_factory.mktemp("pack") / "part0.zip", members)
    whole = set(range(images)) - broken
    if not whole:
        with pytest.raises(PackError, match="no image"):
            FastLoader(path, **options)
        return
    options |= {"on_error": "skip", "max_broken": 1, "world_size": world_size}
    epochs = 3
    ranks = [FastLoader(path, rank=rank, **options) for rank in range(world_size)]
    reference = [[labels_of(loader) for _ in range(epochs)] for loader in ranks]
    for epoch in range(epochs):
        delivered = [label for rank in reference for batch in rank[epoch] for label in batch]
        assert len(delivered) == len(set(delivered))
        assert set(delivered) <= whole
        assert options["drop_last"] or set(delivered) == whole
    if options["drop_last"]:
        assert len({len(loader) for loader in ranks}) == 1
    for loader, expected in zip(ranks, reference, strict=True):
        assert resumed(path, loader.order.rank, options, stops, epochs) == expected


def resumed(path, rank, options, stops, epochs):
    """Iterate over the epochs, stop, and resume with a new loader from the state; check the pixels."""
    loader, state, seen = FastLoader(path, rank=rank, **options), None, [[] for _ in range(epochs)]
    stops = iter(stops)
    while (epoch := loader.state_dict()["epoch"]) < epochs:
        stop = next(stops, None)
        for count, (images, labels) in enumerate(loader):
            check_pixels(images, labels)
            seen[epoch].append(labels.tolist())
            if count == stop:
                state = json.loads(json.dumps(loader.state_dict()))
                loader = FastLoader(path, rank=rank, **options)
                loader.load_state_dict(state)
                break
    return seen


def check_pixels(images, labels):
    for image, label in zip(images, labels.tolist(), strict=True):
        truth = np.asarray(Image.open(io.BytesIO(numbered_jpeg(label)))).astype(int)
        assert np.abs(image.permute(1, 2, 0).numpy() - truth).max() <= 2


def test_iterating_anew_starts_next_epoch(path):
    one, other = (FastLoader(path, 23, shuffle=True) for _ in range(2))
    next(iter(one))
    assert labels_of(one) == (labels_of(other), labels_of(other))[1]


def test_state_of_another_order_is_rejected(path):
    state = FastLoader(path, 4, shuffle=True, seed=4).state_dict()
    with pytest.raises(ValueError, match="another loader: shuffle is True there and False here, seed is 4"):
        FastLoader(path, 4).load_state_dict(state)


def test_epoch_continues_on_another_number_of_ranks_with_another_batch_size(path):
    before, seen = [FastLoader(path, 3, shuffle=True, rank=rank, world_size=2) for rank in range(2)], []
    for loader in before:
        for count, (_, labels) in enumerate(loader):
            seen += labels.tolist()
            if count == 1:
                break
    states = [json.dumps(loader.state_dict()) for loader in before]
    assert states[0] == states[1]
    after = [FastLoader(path, 2, shuffle=True, rank=rank, world_size=4) for rank in range(4)]
    for loader in after:
        loader.load_state_dict(json.loads(states[0]))
        seen += [label for labels in labels_of(loader) for label in labels]
    assert sorted(seen) == list(range(23))
    assert {json.dumps(loader.state_dict()) for loader in after} == {
        json.dumps({**before[0].state_dict(), "epoch": 1, "samples": 0})
    }


@settings(max_examples=25)
@given(
    phases=st.lists(
        st.tuples(st.integers(1, 5), st.integers(1, 6), st.integers(0, 6), st.integers(0, 4)), max_size=5
    ),
    last=st.integers(1, 5),
    seed=st.integers(0, 9),
)
def test_killed_and_resumed_on_any_ranks_delivers_each_image_once_per_epoch(
    numbered_path, phases, last, seed
):
    """Each phase runs some steps on its ranks; the next one gets the state that one of these ranks saved."""
    state, delivered = None, {}
    for ranks, batch_size, steps, saved_by in [*phases, (last, 5, 99, 0), (last, 5, 99, 0)]:
        world = [
            FastLoader(
                numbered_path, batch_size, threads=1, shuffle=True, seed=seed, rank=rank, world_size=ranks
            )
            for rank in range(ranks)
        ]
        for loader in world:
            if state:
                loader.load_state_dict(json.loads(state))
            epoch, batches = loader.state_dict()["epoch"], iter(loader)
            for _ in range(steps):
                _, labels = next(batches, (None, torch.empty(0)))
                delivered.setdefault(epoch, []).extend(labels.tolist())
        state = json.dumps(world[saved_by % ranks].state_dict())
    for samples in delivered.values():
        assert sorted(samples) == list(range(23))


@pytest.fixture(scope="module")
def numbered_path(tmp_path_factory):
    return numbered_pack(tmp_path_factory.mktemp("pack") / "part0.zip", [numbered_jpeg(i) for i in range(23)])


def test_state_of_another_pack_of_as_many_images_is_rejected(path, tmp_path):
    other = numbered_pack(tmp_path / "other.zip", [numbered_jpeg(i + 1) for i in range(23)])
    relabelled = numbered_pack(tmp_path / "relabelled.zip", [numbered_jpeg(i) for i in range(23)], first=1)
    copy = shutil.copy(path, tmp_path / "copy.zip")
    state = FastLoader(path, 4).state_dict()
    FastLoader(copy, 4).load_state_dict(state)
    for pack in (other, relabelled):
        with pytest.raises(ValueError, match="another loader: content is"):
            FastLoader(pack, 4).load_state_dict(state)


OPTIONS = [
    {"crop": RandomResizedCrop(8)},
    {"crop": RandomResizedCrop(9)},
    {"crop": RandomResizedCrop(8, (0.5, 1))},
    {"crop": RandomResizedCrop(8, flip=0)},
    {"crop": ResizeCenterCrop(9, 8)},
    {"crop": ResizeCenterCrop(9, 8, draft=True)},
    {"crop": Resize(8)},
    {"transform": FlipAndNormalize()},
    {"transform": FlipAndNormalize(std=(1, 1, 1))},
    {"transform": FlipAndNormalize(flip=0.3)},
    {"transform": torch.nn.Hardtanh(0, 9)},
    {"transform": torch.relu},
    {},
]


def test_state_of_other_samples_is_rejected(path):
    """Another crop, another size, another normalisation."""
    loaders = [FastLoader(path, 4, **options) for options in OPTIONS]
    for i, loader in enumerate(loaders):
        state = json.loads(json.dumps(loader.state_dict()))
        for j, other in enumerate(loaders):
            if i == j:
                other.load_state_dict(state)
                continue
            with pytest.raises(ValueError, match=r"another loader: (crop|transform) is .* there and .* here"):
                other.load_state_dict(state)


def test_state_of_equal_samples_is_accepted_in_another_process(path):
    """Their text is the same, although functions and objects have other addresses there."""

    state = FastLoader(path, 4, crop=RandomResizedCrop(8)).state_dict()
    FastLoader(path, 4, crop=RandomResizedCrop((8, 8))).load_state_dict(state)


def test_state_of_a_version_that_named_no_crop_says_what_to_add(path):
    loader = FastLoader(path, 4, crop=Resize(8))
    old = loader.state_dict()
    del old["crop"], old["transform"]
    with pytest.raises(ValueError, match="did not name crop and transform") as found:
        loader.load_state_dict(old)
    added = re.search(r"add ({.*}) to the state", str(found.value))[1]
    loader.load_state_dict(old | ast.literal_eval(added))
    with pytest.raises(ValueError, match=r"another loader: seed is"):
        FastLoader(path, 4, crop=Resize(8), seed=3).load_state_dict(old)


@pytest.mark.parametrize(
    "position", [(-1, 0), (0, -1), (0, 24), (0, None), (0.5, 0), (None, None), ("0", "1")]
)
def test_state_with_an_impossible_position_is_rejected(path, position):
    loader = FastLoader(path, 4)
    epoch, samples = position
    with pytest.raises(ValueError, match="position"):
        loader.load_state_dict({**loader.state_dict(), "epoch": epoch, "samples": samples})
    assert labels_of(loader) == labels_of(FastLoader(path, 4))


def test_state_at_the_end_of_an_epoch_resumes_with_the_next(path):
    loader, other = FastLoader(path, 4), FastLoader(path, 4)
    batches = iter(loader)
    for _ in range(len(loader)):
        next(batches)
    other.load_state_dict(loader.state_dict())
    assert (labels_of(other), len(labels_of(other))) == ([], 6)


@pytest.fixture
def broken_path(tmp_path):
    members = [numbered_jpeg(i) for i in range(12)]
    members[0], members[5], members[7] = b"", numbered_jpeg(5)[:-40], b"no image"
    return numbered_pack(tmp_path / "broken.zip", members)


def test_error_names_broken_image(broken_path):
    with pytest.raises(PackError, match=r"broken\.zip: img00000000\.JPEG: "):
        next(iter(FastLoader(broken_path, 3)))


def test_broken_images_are_skipped(broken_path):
    batches = list(FastLoader(broken_path, 4, on_error="skip", max_broken=0.25))
    assert labels_of(batches) == [[1, 2, 3], [4, 6], [8, 9, 10, 11]]
    for batch in batches:
        check_pixels(*batch)


def test_broken_images_are_replaced(broken_path):
    errors = []

    def black(error):
        errors.append(str(error))
        return torch.zeros(3, 16, 24, dtype=torch.uint8) if "00005" in str(error) else None

    batches = list(FastLoader(broken_path, 4, on_error=black, max_broken=0.25))
    assert labels_of(batches) == [[1, 2, 3], [4, 5, 6], [8, 9, 10, 11]]
    assert batches[1][0][1].max() == 0
    assert ["00000" in errors[0], "Premature end" in errors[1], "00007" in errors[2]] == [True] * 3


@pytest.mark.parametrize(
    ("replacement", "message"),
    [
        (
            torch.rand(3, 16, 24),
            r"on_error returned a tensor of float32 \(3, 16, 24\); it must return a tensor",
        ),
        (torch.zeros(3, 24, 16, dtype=torch.uint8), r"a tensor of uint8 \(3, 24, 16\)"),
        (torch.tensor(7, dtype=torch.uint8), r"a tensor of uint8 \(\)"),
        (0, "on_error returned int 0"),
    ],
)
def test_replacement_that_would_be_converted_or_broadcast_is_rejected(broken_path, replacement, message):
    with pytest.raises(ValueError, match=message):
        list(FastLoader(broken_path, 4, on_error=lambda error: replacement))


@pytest.mark.parametrize("on_error", ["ignore", "", None, 3])
def test_unknown_policy_is_rejected_at_construction(path, on_error):
    with pytest.raises(ValueError, match="on_error="):
        FastLoader(path, 4, on_error=on_error)


@pytest.mark.parametrize("other", [(24, 17), (25, 16), (23, 16), (16, 24), (12, 8)])
def test_error_for_other_size_suggests_resizing(tmp_path, other):
    path = numbered_pack(tmp_path / "a.zip", [numbered_jpeg(0), numbered_jpeg(1, other)])
    with pytest.raises(PackError, match=f"{other[1]}x{other[0]} pixels.* crop=Resize"):
        list(FastLoader(path, 2))


@pytest.mark.parametrize("size", [(16, 24), (10, 11), 64])
def test_images_of_other_sizes_are_resized(tmp_path, size):
    path = numbered_pack(
        tmp_path / "a.zip", [numbered_jpeg(0), numbered_jpeg(1, (200, 150)), numbered_jpeg(2, (7, 9))]
    )
    images, _ = next(iter(FastLoader(path, 3, crop=Resize(size))))
    height, width = (size, size) if isinstance(size, int) else size
    assert images.shape == (3, 3, height, width)
    expected = Image.open(io.BytesIO(numbered_jpeg(1, (200, 150)))).resize(
        (width, height), Image.Resampling.BILINEAR
    )
    assert np.abs(images[1].permute(1, 2, 0).numpy().astype(int) - np.asarray(expected)).mean() < 4


def threads_and_files():
    """Return decoder threads and open files; those that earlier tests left may end at any time."""
    gc.collect()
    return {*running, *(FDS.iterdir() if FDS.exists() else ())}


def wait_for_threads(before):
    """Abandoned threads end by themselves after the image that they are decoding."""
    for _ in range(1000):
        if set(running) <= before:
            return
        time.sleep(0.01)
    raise AssertionError(f"{len(set(running) - before)} threads do not end")


def leave_by_break(loader):
    for _ in loader:
        break


def consume(loader, error):
    for _ in loader:
        raise error


def leave_by_exception(loader):
    with pytest.raises(ZeroDivisionError):
        consume(loader, ZeroDivisionError())


def leave_by_interrupt(loader):
    with pytest.raises(KeyboardInterrupt):
        consume(loader, KeyboardInterrupt())


def leave_by_bad_transform(loader):
    loader.transform = lambda images: images.no_such_thing()
    with pytest.raises(AttributeError):
        list(loader)


@pytest.mark.parametrize(
    "leave",
    few(
        2,
        [leave_by_interrupt, list, leave_by_break, leave_by_exception, leave_by_bad_transform],
        lambda leave: leave.__name__,
    ),
)
def test_no_threads_or_files_remain(path, leave):
    before = threads_and_files()
    loader = FastLoader(path, 2)
    leave(loader)
    wait_for_threads(before)
    loader.transform = None
    assert len(labels_of(loader)) == len(loader)
    del loader
    assert threads_and_files() <= before


def test_concurrent_iterations_are_rejected(path):
    loader = FastLoader(path, 4)
    first = iter(loader)
    next(first)
    with pytest.raises(RuntimeError, match="still open"):
        next(iter(loader))
    first.close()
    assert len(list(loader)) == 6


@pytest.mark.skipif(not FDS.exists(), reason="memory is read from /proc, which this system lacks")
@pytest.mark.proof
def test_ten_thousand_iterations_do_not_leak(tmp_path):
    path = numbered_pack(tmp_path / "a.zip", [numbered_jpeg(0), numbered_jpeg(1), b"broken"])
    loader = FastLoader(path, 2, shuffle=True, on_error="skip")
    rss = []
    for i in range(10_000):
        for _ in loader:
            if i % 3 == 0:
                break
        if i in (2_000, 9_998):  # epochs that were read to their end, so that no thread is still ending
            rss.append((threads_and_files(), int(Path("/proc/self/statm").read_text().split()[1])))
    (before, pages_before), (after, pages_after) = rss
    assert after <= before
    assert (pages_after - pages_before) * os.sysconf("SC_PAGE_SIZE") < 4 << 20


def test_benchmark_accepts_it(path):
    loader = FastLoader(path, 4, shuffle=True)
    result = benchmark(loader, 2, None, None, None, None, "cpu", warm_start=True)
    assert result.images == 23


NUMBERS = ("batch_size", "seed", "rank", "world_size", "threads", "in_flight")
LEAST = {"seed": 0, "rank": 0}


@pytest.mark.parametrize("name", NUMBERS)
@pytest.mark.parametrize("wrong", [1.0, math.nan, np.float32(1), "1", True, np.True_, [1], math.inf])
def test_what_is_no_integer_is_rejected_at_construction(path, name, wrong):
    with pytest.raises(TypeError, match=f"{name}=.*: it must be an integer"):
        FastLoader(path, **({"batch_size": 4} | {name: wrong}))


@pytest.mark.parametrize("name", NUMBERS)
def test_invalid_numbers_are_rejected(path, name):
    wrong = LEAST.get(name, 1) - 1
    with pytest.raises(ValueError, match=f"{name}={wrong}: at least {wrong + 1}"):
        FastLoader(path, **({"batch_size": 4} | {name: wrong}))


def test_rank_outside_of_its_world_is_rejected(path):
    with pytest.raises(ValueError, match="rank=2: at least 0 and less than world_size=2"):
        FastLoader(path, 4, rank=2, world_size=2)


@pytest.mark.parametrize("name", ["shuffle", "drop_last"])
@pytest.mark.parametrize("wrong", ["no", 1, None, math.nan])
def test_what_is_no_bool_is_rejected(path, name, wrong):
    with pytest.raises(TypeError, match=f"{name}=.*: it must be True or False"):
        FastLoader(path, 4, **{name: wrong})


@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.array, torch.tensor])
def test_numbers_of_numpy_and_torch_give_the_state_of_those_of_python(path, kind):
    numbers = {"batch_size": 4, "seed": 3, "rank": 1, "world_size": 2, "threads": 2, "in_flight": 2}
    plain = FastLoader(path, shuffle=True, **numbers)
    other = FastLoader(path, shuffle=np.True_, **{name: kind(number) for name, number in numbers.items()})
    assert labels_of(other) == labels_of(plain)
    for loader in (plain, other):
        next(iter(loader))
    assert json.dumps(other.state_dict()) == json.dumps(plain.state_dict())


@pytest.mark.parametrize(
    ("device", "message"),
    [
        ("cuda:99", "PyTorch can use [0-9]+ CUDA devices here"),
        ("nonsense", 'it must be "cpu", "cuda"'),
        (1.5, 'it must be "cpu", "cuda"'),
        ("meta", r'move each batch with images.to\("meta"\)'),
        ("mps", "batches go to the CPU or a CUDA device"),
    ],
)
def test_device_that_cannot_be_used_is_rejected_at_construction(path, device, message):
    with pytest.raises(ValueError, match=message):
        FastLoader(path, 4, device=device)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_gpu_that_is_missing_is_named_at_construction(path):
    with pytest.raises(
        ValueError, match=r'device="cuda": PyTorch can use 0 CUDA devices here\. Pass device="cpu"'
    ):
        FastLoader(path, 4, device="cuda")


gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")


@gpu
def test_gpu_receives_the_same_batches(path):
    for (images, labels), (on_gpu, labels_on_gpu) in zip(
        FastLoader(path, 4), FastLoader(path, 4, device="cuda", transform=lambda x: x.flip(3)), strict=True
    ):
        assert on_gpu.is_cuda
        assert torch.equal(images.flip(3), on_gpu.cpu())
        assert torch.equal(labels, labels_on_gpu.cpu())


@gpu
def test_gpu_batches_are_not_overwritten_while_it_is_busy(path):
    busy = torch.randn(4096, 4096, device="cuda")
    sums = []
    for images, labels in FastLoader(path, 4, device="cuda"):
        for _ in range(5):
            busy = (busy @ busy).clamp(-1, 1)
        sums.append((images.long().sum(), labels))
    for (total, labels), (images, expected) in zip(sums, FastLoader(path, 4), strict=True):
        assert total.item() == images.long().sum()
        assert torch.equal(labels.cpu(), expected)
