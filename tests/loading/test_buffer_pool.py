import gc

import numpy as np
import torch

from course_utils.loading.buffer_pool import BufferPool


def test_memory_is_reused_when_the_tensor_is_gone():
    pool = BufferPool((4, 3))
    first = pool.take()
    address = first.data_ptr()
    del first
    others = [np.empty((4, 3), np.uint8) for _ in range(20)]  # would get the memory if it had been freed
    assert pool.take().data_ptr() == address
    assert address not in {other.ctypes.data for other in others}


def test_referenced_memory_is_never_reused():
    pool = BufferPool((4, 3))
    kept = [pool.take().fill_(i) for i in range(5)]
    part = pool.take().fill_(7)[1:, :2].permute(1, 0)  # only a view of a view remains
    array = pool.take().fill_(9).numpy()[2:]
    gc.collect()
    for _ in range(10):
        pool.take().fill_(255)
    assert [int(tensor.unique()) for tensor in kept] == list(range(5))
    assert part.unique() == 7
    assert set(array.ravel()) == {9}


def test_dtype_and_shape():
    tensor = BufferPool((2, 5), torch.float32).take()
    assert (tensor.shape, tensor.dtype) == ((2, 5), torch.float32)
