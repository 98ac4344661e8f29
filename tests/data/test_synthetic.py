import pytest
import torch

from course_utils.data.synthetic import SyntheticImageDataset


def test_index_determines_image():
    one, two = SyntheticImageDataset(5, 8), SyntheticImageDataset(5, 8)
    assert torch.equal(one[3][0], two[3][0])
    assert not torch.equal(one[3][0], one[4][0])
    assert (one[3][0].shape, one[3][0].dtype, one[3][1]) == ((3, 8, 8), torch.uint8, 3)


def test_transform_is_applied_to_each_image():
    dataset = SyntheticImageDataset(12, 4, transform=lambda image: image.float().mean(), num_classes=10)
    assert dataset[11][0].ndim == 0
    assert dataset[11][1] == 1


def test_index_beyond_the_end_raises_index_error():
    dataset = SyntheticImageDataset(2, 4)
    assert len(list(dataset)) == len(dataset) == 2
    with pytest.raises(IndexError, match="image 2 of 2"):
        dataset[2]
