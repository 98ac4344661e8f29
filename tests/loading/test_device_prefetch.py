import pytest
import torch

from course_utils.loading.device_prefetch import prefetch_to_device

gpu = pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")


@gpu
def test_batches_arrive_in_order_and_unchanged_while_gpu_is_busy():
    busy = torch.randn(2048, 2048, device="cuda")
    batches = (
        (i, (torch.full((8, 3, 64, 64), i, dtype=torch.uint8).pin_memory(), torch.tensor([i])))
        for i in range(20)
    )
    for expected, (number, (images, labels)) in enumerate(
        prefetch_to_device(batches, torch.device("cuda"), lambda images, number: -images)
    ):
        busy = (busy @ busy).clamp(-1, 1)
        assert number == expected == labels.item()
        assert set(images.unique().tolist()) == {256 - expected if expected else 0}
