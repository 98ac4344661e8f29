"""Many threads, and several loaders in one process: none waits for another. Counted, not timed."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from course_utils.cropping import RandomResizedCrop, cut
from course_utils.data import member_decoders
from course_utils.loading import fast_loader
from course_utils.loading.fast_loader import FastLoader
from tests.image_set import numbered_jpeg, numbered_pack

CORES = 64
COUNT = 2 * CORES
PATIENCE = 60  # seconds: only a lock that serialises makes anybody wait so long
DECODERS = {"whole": (member_decoders, "decode_jpeg"), "cropped": (cut, "decode_region")}
CROPS = {"whole": None, "cropped": RandomResizedCrop(8)}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pack = tmp_path_factory.mktemp("pack") / "part0.zip"
    return numbered_pack(pack, [numbered_jpeg(i) for i in range(COUNT)])


class Meeting:
    """A function of which no call goes on before as many have begun; it remembers how many there were."""

    def __init__(self, function: Callable[..., Any], count: int, patience: float = PATIENCE) -> None:
        self.function, self.barrier, self.calls = function, threading.Barrier(count, timeout=patience), 0

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.barrier.wait() == 0:  # one of them all
            self.calls += self.barrier.parties
        return self.function(*args, **kwargs)


def labels_of(loader: FastLoader) -> list[int]:
    return [label for _, labels in loader for label in labels.tolist()]


@pytest.mark.parametrize("kind", DECODERS)
def test_each_core_decodes_an_image_at_the_same_time(path, monkeypatch, kind):
    module, name = DECODERS[kind]
    decode = Meeting(getattr(module, name), CORES)
    monkeypatch.setattr(fast_loader, "usable_cores", lambda: CORES)
    monkeypatch.setattr(module, name, decode)
    assert labels_of(FastLoader(path, CORES, crop=CROPS[kind])) == list(range(COUNT))
    assert decode.calls == COUNT


def test_each_core_reads_an_image_at_the_same_time(path, monkeypatch):
    loader, read = FastLoader(path, CORES, threads=CORES), Meeting(os.pread, CORES)
    monkeypatch.setattr(os, "pread", read)
    assert labels_of(loader) == list(range(COUNT))
    assert read.calls == COUNT


def test_two_loaders_of_one_file_do_not_wait_for_each_other(path, monkeypatch):
    decode = Meeting(member_decoders.decode_jpeg, 2)
    monkeypatch.setattr(member_decoders, "decode_jpeg", decode)
    loaders = [FastLoader(path, 16, threads=1, shuffle=True, seed=seed) for seed in (0, 1)]
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(labels_of, loaders))
    assert [sorted(labels) for labels in found] == [list(range(COUNT))] * 2
    assert found[0] != found[1]
    assert decode.calls == 2 * COUNT


def test_a_lock_around_the_decoder_would_be_seen(path, monkeypatch):
    lock, decode = threading.Lock(), Meeting(member_decoders.decode_jpeg, 2, patience=1)

    def one_at_a_time(*args: Any, **kwargs: Any) -> Any:
        with lock:
            return decode(*args, **kwargs)

    monkeypatch.setattr(member_decoders, "decode_jpeg", one_at_a_time)
    with pytest.raises(threading.BrokenBarrierError):
        labels_of(FastLoader(path, 16, threads=2))


def test_two_loaders_of_one_file_in_turn_give_what_each_gives_alone(path):
    alone = [labels_of(FastLoader(path, 16, shuffle=True, seed=seed)) for seed in (0, 1)]
    pairs = zip(*(FastLoader(path, 16, shuffle=True, seed=seed) for seed in (0, 1)), strict=True)
    in_turn: list[list[int]] = [[], []]
    for batches in pairs:
        for found, (_, labels) in zip(in_turn, batches, strict=True):
            found += labels.tolist()
    assert in_turn == alone
