import torch

from course_utils.training.resnet import UInt8ResNet50
from course_utils.training.simple_cnn import training_step


def test_uint8_and_scaled_images_have_the_same_scores():
    network = UInt8ResNet50(10).eval()
    images = torch.randint(0, 256, (2, 3, 32, 32), dtype=torch.uint8)
    assert network(images).shape == (2, 10)
    torch.testing.assert_close(network(images), network(images / 255))


def test_training_step_in_bfloat16_changes_the_weights():
    network = UInt8ResNet50(10)
    before = network.network.fc.weight.clone()
    step = training_step(network, dtype=torch.bfloat16)
    loss = step(torch.randint(0, 256, (2, 3, 32, 32), dtype=torch.uint8), torch.tensor([1, 2]))
    assert loss.isfinite()
    assert not torch.equal(network.network.fc.weight, before)
