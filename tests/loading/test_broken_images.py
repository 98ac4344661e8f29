"""What may be skipped: the damaged content of a few images, and never what a disk or a whole set does."""

import errno
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.data import BrokenSampleError, ChangedFileError, PackError
from course_utils.loading.batch_transforms import FlipAndNormalize
from course_utils.loading.broken_images import BrokenImages
from course_utils.loading.buffer_pool import BufferPool
from course_utils.loading.fast_loader import FastLoader
from tests.image_set import numbered_jpeg, numbered_pack

IMAGES = 23
GREY = torch.full((3, 16, 24), 99, dtype=torch.uint8)


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    members = [numbered_jpeg(i) for i in range(IMAGES)]
    return numbered_pack(tmp_path_factory.mktemp("pack") / "part0.zip", members)


def failing(path, failures, batch_size=4, **options):
    """Return a loader for which reading some images raises these errors."""
    loader = FastLoader(path, batch_size, **options)
    read_into = loader.images.read_into

    def read(i, pixels):
        if i in failures:
            raise failures[i]
        read_into(i, pixels)

    loader.images.read_into = read
    return loader


def broken(numbers):
    return {i: BrokenSampleError(f"part0.zip: image {i} is broken") for i in numbers}


def labels_of(batches):
    return [labels.tolist() for _, labels in batches]


@pytest.mark.parametrize("on_error", ["raise", "skip", lambda error: None, lambda error: GREY])
@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ESTALE, "Stale file handle", "part0.zip"),
        PackError("part0.zip: another size"),
        ChangedFileError("part0.zip was replaced"),
    ],
    ids=lambda error: type(error).__name__,
)
def test_failing_disks_and_changed_sets_are_raised_whatever_the_policy(path, on_error, error):
    loader = failing(path, {20: error}, on_error=on_error, max_broken=1)
    delivered = []
    with pytest.raises(type(error)) as raised:
        delivered.extend(loader)
    assert raised.value is error
    assert len(delivered) == 5
    assert loader.broken.errors == []


def test_skipped_and_replaced_images_are_counted(path):
    loader = failing(path, broken({1, 2, 9}), max_broken=0.2)
    loader.on_error = lambda error: GREY if "image 9" in str(error) else None
    assert labels_of(loader)[:3] == [[0, 3], [4, 5, 6, 7], [8, 9, 10, 11]]
    assert (loader.broken.skipped, loader.broken.replaced) == (2, 1)
    assert str(loader.broken).splitlines() == [
        "3 of 23 images are broken, 2 skipped, 1 replaced:",
        *(f"part0.zip: image {i} is broken" for i in (1, 2, 9)),
    ]


def test_count_is_that_of_the_last_iteration(path):
    loader = failing(path, broken({1}), on_error="skip")
    assert str(loader.broken) == "no broken image among 0"
    for _ in range(3):
        list(loader)
        assert loader.broken.skipped == 1


@pytest.mark.parametrize("on_error", ["skip", lambda error: None, lambda error: GREY])
@pytest.mark.parametrize(("share", "most"), [(0, 0), (0.01, 1), (0.1, 3), (0.99, 23)])
def test_more_broken_images_than_the_share_are_an_error(path, on_error, share, most):
    assert most == math.ceil(share * IMAGES)
    assert len(labels_of(failing(path, broken(range(most)), on_error=on_error, max_broken=share))) == 6
    if most < IMAGES:
        loader = failing(path, broken(range(most + 1)), on_error=on_error, max_broken=share)
        with pytest.raises(PackError, match=rf"{most + 1} broken .* allows {most} of the 23 .*image 0"):
            list(loader)


@pytest.mark.parametrize("share", [-0.1, 1.1, math.nan, True, "1%", None])
def test_impossible_share_is_rejected(path, share):
    with pytest.raises(ValueError, match="max_broken="):
        FastLoader(path, 4, max_broken=share)


def test_broken_images_keep_no_batch_alive(path, monkeypatch):
    """Not those that the loader counts, and not those that a function keeps."""
    allocated, allocate, kept = [], BufferPool._allocate, []
    monkeypatch.setattr(BufferPool, "_allocate", lambda pool: allocated.append(1) or allocate(pool))
    options = {"in_flight": 2, "threads": 1, "max_broken": 1}
    for on_error in ("skip", lambda error: kept.append(error)):
        allocated.clear()
        loader = FastLoader(path, 1, on_error=on_error, **options)

        def read(i, pixels):  # each error has a traceback, whose frame refers to the batch
            raise BrokenSampleError(f"image {i}")

        loader.images.read_into = read
        assert sum(1 for _ in loader) == IMAGES
        assert len(allocated) <= 2 + 2 + 1
    assert len(kept) == IMAGES


def test_few_messages_are_kept(path):
    loader = failing(path, broken(range(20)), on_error="skip", max_broken=1)
    list(loader)
    assert (loader.broken.skipped, len(loader.broken.errors)) == (20, 10)
    assert BrokenImages().errors == []


@settings(max_examples=60)
@given(
    damage=st.sets(st.integers(0, IMAGES - 1)),
    world_size=st.integers(1, 4),
    batch_size=st.integers(1, 6),
    drop_last=st.booleans(),
    shuffle=st.booleans(),
    seed=st.integers(0, 5),
    transform=st.sampled_from([None, FlipAndNormalize()]),
)
def test_damage_changes_neither_number_nor_kind_of_the_batches_of_any_rank(
    path, damage, world_size, batch_size, drop_last, shuffle, seed, transform
):
    delivered, counts = [], set()
    for rank in range(world_size):
        loader = failing(
            path, broken(damage), batch_size, on_error="skip", max_broken=1, world_size=world_size,
            rank=rank, drop_last=drop_last, shuffle=shuffle, seed=seed, transform=transform, threads=1,
        )  # fmt: skip
        parts, batches = loader.order.batches(0), list(loader)
        assert len(batches) == len(parts) == len(loader)
        for part, (images, labels) in zip(parts, batches, strict=True):
            assert labels.tolist() == [i for i in part.tolist() if i not in damage]
            assert images.shape == (len(labels), 3, 16, 24)
            assert images.dtype == (torch.uint8 if transform is None else torch.float32)
            assert images.is_contiguous(memory_format=torch.channels_last)
        assert loader.broken.skipped == len(damage & {i for part in parts for i in part.tolist()})
        counts.add(len(batches))
        delivered += [label for _, labels in batches for label in labels.tolist()]
    assert len(delivered) == len(set(delivered))
    if drop_last:
        assert len(counts) == 1
    else:
        assert set(delivered) == set(range(IMAGES)) - damage


def test_empty_batch_trains_nothing_and_spoils_nothing():
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Flatten())
    model(torch.rand(4, 3, 8, 8))
    before = {name: value.clone() for name, value in model.state_dict().items() if "running" in name}
    outputs = model(torch.empty(0, 3, 8, 8))
    torch.nn.functional.cross_entropy(outputs, torch.empty(0, dtype=torch.int64)).backward()
    assert all(not parameter.grad.any() for parameter in model.parameters())
    assert all(torch.equal(model.state_dict()[name], value) for name, value in before.items())
