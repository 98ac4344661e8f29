import gc

import torch

from course_utils.loading.buffer_pool import BufferPool


def test_memory_is_used_again_when_the_tensor_is_gone():
    pool = BufferPool((4, 3))
    first = pool.take()
    address = first.data_ptr()
    del first
    assert pool.take().data_ptr() == address


def test_memory_in_use_is_never_given_out():
    pool = BufferPool((4, 3))
    kept = [pool.take().fill_(i) for i in range(5)]
    part = pool.take().fill_(7)[1:, :2].permute(1, 0)  # only a view of a view is left
    array = pool.take().fill_(9).numpy()[2:]
    gc.collect()
    for _ in range(10):
        pool.take().fill_(255)
    assert [int(tensor.unique()) for tensor in kept] == list(range(5))
    assert part.unique() == 7
    assert set(array.ravel()) == {9}


def test_type_and_shape():
    tensor = BufferPool((2, 5), torch.float32).take()
    assert (tensor.shape, tensor.dtype) == ((2, 5), torch.float32)
