import os
import threading

import numpy as np
import pytest

from course_utils.system.memory import NotMeasurableError, dirtied_bytes, peak_growth, process_memory

MIB = 2**20


@pytest.fixture
def measurable():
    try:
        process_memory()
    except NotMeasurableError as reason:
        pytest.skip(str(reason))


@pytest.mark.usefixtures("measurable")
def test_private_memory_is_part_of_proportional_and_resident_memory():
    memory = process_memory()
    assert 0 < memory.private_dirty <= memory.private <= memory.pss <= memory.rss


def test_missing_process_is_not_measurable():
    with pytest.raises(NotMeasurableError, match="Linux only"):
        process_memory(2**30)


@pytest.mark.usefixtures("measurable")
def test_reading_python_objects_copies_pages_but_reading_array_does_not():
    array = np.arange(300, 200_300)
    numbers = array.tolist()
    assert dirtied_bytes(lambda: sum(numbers)) > 4 * MIB
    assert dirtied_bytes(lambda: [int(array[i]) for i in range(0, 200_000, 100)]) < MIB


@pytest.mark.usefixtures("measurable")
def test_pages_written_by_parent_are_not_counted():
    pages = np.ones(64 * MIB, np.uint8)
    child_started, parent_wrote = os.pipe(), os.pipe()

    def write_pages():
        os.read(child_started[0], 1)
        pages.__iadd__(1)
        os.write(parent_wrote[1], b"!")

    def wait_for_parent():
        os.write(child_started[1], b"!")
        os.read(parent_wrote[0], 1)

    writer = threading.Thread(target=write_pages)
    writer.start()
    assert dirtied_bytes(wait_for_parent) < MIB
    writer.join()
    for descriptor in (*child_started, *parent_wrote):
        os.close(descriptor)


def test_peak_growth_counts_freed_memory_but_not_earlier_allocations():
    before = np.ones(20 * MIB, np.uint8)
    growth = peak_growth(lambda: np.ones(40 * MIB, np.uint8).sum())
    assert 39 * MIB < growth < 48 * MIB
    assert peak_growth(lambda: before[:10].sum()) < 8 * MIB
