import json

import pytest

from data_setup.format.errors import SetupError
from data_setup.sources.labels import read_labels

NAMES = ["val_1.JPEG", "val_2.JPEG", "val_3.JPEG"]


def read(path, names=NAMES):
    labels, classes = read_labels(path, names, len(names))
    return labels.tolist(), classes


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("truth.txt", "490\n361\n171\n"),
        ("truth.txt", "490\r\n361\r\n171"),
        ("pairs.txt", "val_3.JPEG 171\nval_1.JPEG 490\nval_2.JPEG 361\n"),
        ("pairs.csv", "name,label\nval_2.JPEG,361\nval_3.JPEG,171\nval_1.JPEG,490\n"),
        ("stems.csv", "val_2,361\nval_3,171\nval_1,490\n"),
        ("list.json", "[490, 361, 171]"),
        ("object.json", json.dumps({"val_2.JPEG": 361, "val_1.JPEG": 490, "val_3.JPEG": 171})),
        ("pack.json", json.dumps({"labels": {"val_2.JPEG": 361, "val_1.JPEG": 490, "val_3.JPEG": 171}})),
    ],
)
def test_label_formats_are_read(tmp_path, file, text):
    path = tmp_path / file
    path.write_text(text, newline="")
    assert read(path) == ([490, 361, 171], [])


def test_class_names_are_numbered_in_alphabetical_order(tmp_path):
    path = tmp_path / "LOC_val_solution.csv"
    path.write_text(
        "ImageId,PredictionString\nval_1,n02 1 2 3 4 n02 5 6 7 8\nval_3,n01 1 1 2 2\nval_2,n07 1 2 3 4\n"
    )
    assert read(path) == ([1, 2, 0], ["n01", "n02", "n07"])


def test_folders_are_classes():
    assert read(None, ["cat/1.jpg", "cat/2.jpg", "ant/1.jpg"]) == ([1, 1, 0], ["ant", "cat"])


def test_missing_labels_are_reported_with_advice():
    with pytest.raises(SetupError, match="--labels"):
        read(None)


def test_wrong_number_of_labels_is_refused(tmp_path):
    path = tmp_path / "truth.txt"
    path.write_text("1\n2\n")
    with pytest.raises(SetupError, match="2 labels, but there are 3 images"):
        read(path)


def test_image_without_label_is_named(tmp_path):
    path = tmp_path / "pairs.csv"
    path.write_text("val_1,1\nval_2,2\n")
    with pytest.raises(SetupError, match="no label for val_3"):
        read(path)


@pytest.mark.parametrize("text", ["{", "3", '{"labels": 3}'])
def test_invalid_labels_file_is_refused(tmp_path, text):
    path = tmp_path / "labels.json"
    path.write_text(text)
    with pytest.raises(SetupError, match="is not a valid labels file"):
        read(path)
