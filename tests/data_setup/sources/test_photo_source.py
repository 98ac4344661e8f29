import numpy as np
import pytest

from data_setup.format.layout import SIDE
from data_setup.sources.photo_catalogue import PHOTOGRAPHS, SUBJECTS
from data_setup.sources.photo_source import PhotoSource, draw_crop, label_at, load_photograph


@pytest.mark.parametrize("label", range(len(PHOTOGRAPHS)), ids=SUBJECTS)
def test_crops_are_not_enlarged_and_contain_the_part_to_keep(label):
    photograph, size = PHOTOGRAPHS[label], load_photograph(label).size
    for seed in range(50):
        left, top, right, bottom = draw_crop(photograph, size, np.random.default_rng(seed))
        assert right - left == bottom - top >= SIDE
        assert left >= 0
        assert top >= 0
        assert right <= size[0]
        assert bottom <= size[1]
        if photograph.keep:
            assert left <= photograph.keep[0]
            assert top <= photograph.keep[1]
            assert right >= photograph.keep[2]
            assert bottom >= photograph.keep[3]


def test_subjects_are_in_alphabetical_order():
    assert list(SUBJECTS) == sorted(set(SUBJECTS))


def test_each_run_of_labels_contains_every_class_once():
    classes = len(PHOTOGRAPHS)
    labels = [label_at(3, slot) for slot in range(5 * classes)]
    for start in range(0, len(labels), classes):
        assert sorted(labels[start : start + classes]) == list(range(classes))
    assert labels[:classes] != labels[classes : 2 * classes]


def test_image_depends_only_on_seed_and_position():
    alone, label, _ = PhotoSource(1000, 5).render(77)
    again, same_label, _ = PhotoSource(78, 5).render(77)
    other, _, _ = PhotoSource(1000, 6).render(77)
    assert alone.tobytes() == again.tobytes()
    assert label == same_label
    assert alone.tobytes() != other.tobytes()


def test_images_are_rgb_and_all_different():
    source = PhotoSource(200, 0)
    images = [source.render(item).image for item in range(200)]
    assert {(image.mode, image.size) for image in images} == {("RGB", (SIDE, SIDE))}
    assert len({image.tobytes() for image in images}) == 200


def test_photographs_are_loaded_before_workers_are_forked():
    load_photograph.cache_clear()
    PhotoSource(1, 0).renderer()
    assert load_photograph.cache_info().currsize == len(PHOTOGRAPHS)
