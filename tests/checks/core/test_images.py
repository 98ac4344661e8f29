import numpy as np
import pytest

from course_utils.checks.core import images
from course_utils.checks.core.check import Mistake


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def test_drawn_images_and_their_mirror_images_all_differ(rng):
    drawn = [images.draw_image(rng) for _ in range(8)]
    variants = [v for image in drawn for v in (image, image[::-1], image[:, ::-1], image[..., ::-1])]
    for position, one in enumerate(variants):
        assert not any(images.look_alike(one, other) for other in variants[:position])


@pytest.mark.parametrize("mode", ["RGB", "L", "CMYK"])
def test_jpeg_of_any_mode_is_decoded_to_rgb(rng, mode):
    image = images.decode_rgb(images.encode_jpeg(images.draw_image(rng), mode))
    assert (image.shape, image.dtype) == ((3, 48, 64), np.uint8)


def test_image_is_recognised_after_jpeg_compression(rng):
    drawn = {name: images.draw_image(rng) for name in "abc"}
    seen = images.decode_rgb(images.encode_jpeg(drawn["b"]))
    assert images.find_match(seen, {name: image.transpose(2, 0, 1) for name, image in drawn.items()}) == "b"
    assert images.find_match(seen, {"c": drawn["c"].transpose(2, 0, 1)}) is None


def test_no_label_is_at_the_sorted_position_of_its_name(rng):
    names = images.draw_names(rng, 9)
    assert names == sorted(set(names))
    labels = images.draw_labels(rng, names)
    assert not any(listed == name for listed, name in zip(labels, names, strict=True))
    assert len(set(labels.values())) == len(names)


@pytest.mark.parametrize(
    ("pixels", "mistake"),
    [
        (lambda image: image.transpose(1, 2, 0), "channels_last"),
        (lambda image: image.transpose(0, 2, 1), "rows_for_columns"),
        (lambda image: image[:, :20], "other_shape"),
    ],
)
def test_wrong_shape_is_named(rng, pixels, mistake):
    image = images.draw_image(rng).transpose(2, 0, 1)
    with pytest.raises(Mistake) as caught:
        images.expect_shape(pixels(image), image.shape)
    assert caught.value.name == mistake
