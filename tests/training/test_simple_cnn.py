import pytest
import torch

from course_utils.training.simple_cnn import SimpleCNN, training_step


@pytest.mark.parametrize("size", [17, 64])
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float32])
def test_scores_of_any_image_size_and_dtype(size, dtype):
    assert SimpleCNN(7)(torch.ones(2, 3, size, size, dtype=dtype)).shape == (2, 7)


@pytest.mark.parametrize("dtype", [None, torch.bfloat16])
def test_training_lowers_the_loss_on_one_batch(dtype):
    torch.manual_seed(0)
    labels = torch.arange(8) % 2
    images = (255 * labels)[:, None, None, None].expand(8, 3, 16, 16).to(torch.uint8)
    step = training_step(SimpleCNN(2), learning_rate=0.5, dtype=dtype)
    losses = [float(step(images, labels)) for _ in range(60)]
    assert losses[-1] < 0.5 * losses[0]
