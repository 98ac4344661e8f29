import gc

import pytest

from course_utils.fakes.cuda import FakeCuda, HostBatch, RaceError


def test_only_a_blocking_copy_makes_the_host_wait():
    gpu = FakeCuda(copy_seconds=2)
    HostBatch(gpu, 1).to("cuda", non_blocking=True)
    assert (gpu.now, gpu.waits) == (0, 0)
    HostBatch(gpu, 2).to("cuda")
    assert (gpu.now, gpu.waits) == (4, 1)


def test_non_blocking_copy_from_unpinned_memory_blocks():
    gpu = FakeCuda(copy_seconds=2)
    batch = HostBatch(gpu, 1, pinned=False)
    batch.to("cuda", non_blocking=True)
    assert (gpu.now, batch.is_pinned(), batch.pin_memory().is_pinned()) == (2, False, True)


def test_copies_on_side_streams_overlap_a_kernel_but_not_each_other():
    gpu = FakeCuda(copy_seconds=3)
    gpu.kernel(5)
    for stream in (gpu.Stream(), gpu.Stream()):
        with gpu.stream(stream):
            HostBatch(gpu, 0).to(non_blocking=True)
    assert [(entry.start, entry.end) for entry in gpu.log if entry.kind == "copy"] == [(0, 3), (3, 6)]


def test_kernel_on_an_unfinished_copy_is_a_race():
    gpu = FakeCuda(copy_seconds=3)
    side = gpu.Stream()
    with gpu.stream(side):
        batch = HostBatch(gpu, 7).to(non_blocking=True)
    with pytest.raises(RaceError, match="7 was used before its copy"):
        gpu.kernel(1, batch)


@pytest.mark.parametrize("wait", ["stream", "event", "recorded event", "host"])
def test_waiting_for_the_copy_avoids_the_race(wait):
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
    elif wait == "recorded event":
        gpu.current_stream().wait_event(side.record_event())
    else:
        side.synchronize()
    gpu.kernel(1, batch)
    assert gpu.values_read() == [[7]]
    assert gpu.now == (3 if wait == "host" else 0)


def train_two_batches(gpu, record):
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


def test_record_stream_prevents_reuse_of_memory_under_a_kernel():
    with pytest.raises(RaceError, match="1 was still in use when 2"):
        train_two_batches(FakeCuda(), record=False)
    recorded = train_two_batches(FakeCuda(), record=True)
    assert recorded.values_read() == [[1], [2]]
    assert {entry.block for entry in recorded.log if entry.kind == "copy"} == {0, 1}


def test_race_on_a_lenient_device_gives_wrong_values():
    gpu = train_two_batches(FakeCuda(strict=False), record=False)
    assert gpu.races == ["reused"]
    assert gpu.values_read() == [[1, 2], [2]]


@pytest.mark.parametrize(("wait", "read"), [(False, [[2]]), (True, [[1]])])
def test_source_overwritten_during_its_copy_arrives_with_the_new_value(wait, read):
    gpu = FakeCuda(copy_seconds=3, strict=False)
    source = HostBatch(gpu, 1)
    batch = source.to(non_blocking=True)
    if wait:
        gpu.synchronize()
    source.fill_(2)
    gpu.kernel(1, batch)
    assert gpu.values_read() == read
    assert gpu.races == ([] if wait else ["overwritten"])


def test_source_overwritten_again_arrives_with_the_last_value():
    gpu = FakeCuda(copy_seconds=3, strict=False)
    source = HostBatch(gpu, 0)
    batches = [source.fill_(number).to(non_blocking=True) for number in range(4)]
    gpu.kernel(1, *batches)
    assert gpu.values_read() == [[3], [3], [3], [3]]


def test_source_overwritten_during_its_copy_raises_on_a_strict_device():
    source = HostBatch(FakeCuda(), 1)
    source.to(non_blocking=True)
    with pytest.raises(RaceError, match="1 was overwritten by 2 before its copy was done"):
        source.fill_(2)


def test_memory_is_reused_once_its_other_streams_are_done():
    gpu = FakeCuda()
    for value in (1, 2):
        batch = HostBatch(gpu, value).to()
        batch.record_stream(gpu.current_stream())
        gpu.kernel(1, batch)
        gpu.synchronize()
        del batch
        gc.collect()
    assert {entry.block for entry in gpu.log} == {0}


def test_events_measure_milliseconds_and_report_completion():
    gpu = FakeCuda()
    start, end = gpu.Event(enable_timing=True), gpu.Event(enable_timing=True)
    start.record()
    gpu.kernel(2.5)
    end.record()
    assert (start.elapsed_time(end), start.query(), end.query()) == (2500, True, False)
    end.synchronize()
    assert (end.query(), gpu.default_stream().query(), gpu.now) == (True, True, 2.5)


def test_device_batch_to_device_is_a_no_op():
    gpu = FakeCuda()
    batch = HostBatch(gpu, 1).cuda(non_blocking=True)
    assert batch.to("cuda") is batch
    assert (batch.is_cuda, HostBatch(gpu, 1).is_cuda) == (True, False)
