import gc

import pytest

from course_utils.fakes.cuda import FakeCuda, HostBatch, RaceError


def test_a_blocking_copy_makes_the_host_wait_and_a_non_blocking_one_does_not():
    gpu = FakeCuda(copy_seconds=2)
    HostBatch(gpu, 1).to("cuda", non_blocking=True)
    assert (gpu.now, gpu.waits) == (0, 0)
    HostBatch(gpu, 2).to("cuda")
    assert (gpu.now, gpu.waits) == (4, 1)


def test_a_copy_from_unpinned_memory_blocks_whatever_was_asked_for():
    gpu = FakeCuda(copy_seconds=2)
    batch = HostBatch(gpu, 1, pinned=False)
    batch.to("cuda", non_blocking=True)
    assert (gpu.now, batch.is_pinned(), batch.pin_memory().is_pinned()) == (2, False, True)


def test_a_side_stream_copies_beside_a_kernel_and_one_engine_does_all_copies():
    (gpu,) = (FakeCuda(copy_seconds=3),)
    gpu.kernel(5)
    for stream in (gpu.Stream(), gpu.Stream()):
        with gpu.stream(stream):
            HostBatch(gpu, 0).to(non_blocking=True)
    assert [(row["start"], row["end"]) for row in gpu.log if row["what"] == "copy"] == [(0, 3), (3, 6)]


def test_using_a_batch_before_its_copy_is_done_is_a_race():
    gpu = FakeCuda(copy_seconds=3)
    side = gpu.Stream()
    with gpu.stream(side):
        batch = HostBatch(gpu, 7).to(non_blocking=True)
    with pytest.raises(RaceError, match="7 was used before its copy"):
        gpu.kernel(1, batch)


@pytest.mark.parametrize("wait", ["stream", "event", "event_of_stream", "host"])
def test_waiting_for_the_copy_on_the_stream_or_on_the_host_is_no_race(wait):
    gpu = FakeCuda(copy_seconds=3)
    side = gpu.Stream()
    with gpu.stream(side):
        batch = HostBatch(gpu, 7).to(non_blocking=True)
        event = gpu.Event()
        event.record()
    if wait == "stream":
        gpu.current_stream().wait_stream(side)
    elif wait == "event":
        event.wait()
    elif wait == "event_of_stream":
        gpu.current_stream().wait_event(side.record_event())
    else:
        side.synchronize()
    gpu.kernel(1, batch)
    assert gpu.results() == [[7]]
    assert gpu.now == (3 if wait == "host" else 0)


def reuse(gpu, record):
    side, main = gpu.Stream(), gpu.current_stream()
    for value in (1, 2):
        with gpu.stream(side):
            batch = HostBatch(gpu, value).to(non_blocking=True)
        main.wait_stream(side)
        if record:
            batch.record_stream(main)
        gpu.kernel(10, batch)
        del batch
        gc.collect()
    return gpu


def test_memory_is_reused_under_a_kernel_unless_the_allocator_was_told():
    with pytest.raises(RaceError, match="1 was still in use when 2"):
        reuse(FakeCuda(), record=False)
    told = reuse(FakeCuda(), record=True)
    assert told.results() == [[1], [2]]
    assert {row["block"] for row in told.log if row["what"] == "copy"} == {0, 1}


def test_a_race_that_nobody_stops_gives_wrong_numbers():
    gpu = reuse(FakeCuda(strict=False), record=False)
    assert gpu.races == ["reused"]
    assert gpu.results() == [[1, 2], [2]]


def test_memory_whose_users_are_done_is_used_again():
    gpu = FakeCuda()
    for value in (1, 2):
        batch = HostBatch(gpu, value).to()
        batch.record_stream(gpu.current_stream())
        gpu.kernel(1, batch)
        gpu.synchronize()
        del batch
        gc.collect()
    assert {row["block"] for row in gpu.log} == {0}


def test_events_tell_milliseconds_and_whether_they_happened():
    gpu = FakeCuda()
    start, end = gpu.Event(enable_timing=True), gpu.Event(enable_timing=True)
    start.record()
    gpu.kernel(2.5)
    end.record()
    assert (start.elapsed_time(end), start.query(), end.query()) == (2500, True, False)
    end.synchronize()
    assert (end.query(), gpu.default_stream().query(), gpu.now) == (True, True, 2.5)


def test_what_is_on_the_device_stays_there():
    gpu = FakeCuda()
    batch = HostBatch(gpu, 1).cuda(non_blocking=True)
    assert batch.to("cuda") is batch
    assert (batch.is_cuda, HostBatch(gpu, 1).is_cuda) == (True, False)
