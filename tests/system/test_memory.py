import threading
import time

import numpy as np
import pytest

from course_utils.system.memory import Memory, NotMeasurableError, dirtied_by, peak_growth, process_memory

MIB = 2**20


@pytest.fixture
def measurable():
    try:
        process_memory()
    except NotMeasurableError as reason:
        pytest.skip(str(reason))


@pytest.mark.usefixtures("measurable")
def test_parts_of_a_process_are_no_larger_than_the_whole():
    memory = process_memory()
    assert 0 < memory.private_dirty <= memory.private <= memory.pss <= memory.rss
    assert isinstance(memory, Memory)


def test_a_process_that_is_not_there_has_no_memory():
    with pytest.raises(NotMeasurableError, match="Linux only"):
        process_memory(2**30)


@pytest.mark.usefixtures("measurable")
def test_reading_python_objects_copies_them_and_reading_an_array_does_not():
    array = np.arange(300, 200_300)
    numbers = array.tolist()
    assert dirtied_by(lambda: sum(numbers)) > 4 * MIB
    assert dirtied_by(lambda: [int(array[i]) for i in range(0, 200_000, 100)]) < MIB


@pytest.mark.usefixtures("measurable")
def test_what_the_parent_writes_meanwhile_is_not_the_childs():
    pages = np.ones(64 * MIB, np.uint8)
    writer = threading.Timer(0.5, lambda: pages.__iadd__(1))
    writer.start()
    assert dirtied_by(time.sleep, 1) < MIB
    writer.join()


def test_the_peak_counts_what_was_freed_again_and_not_what_was_there_before():
    before = np.ones(20 * MIB, np.uint8)
    growth = peak_growth(lambda: np.ones(40 * MIB, np.uint8).sum())
    assert 39 * MIB < growth < 48 * MIB
    assert peak_growth(lambda: before[:10].sum()) < 8 * MIB
