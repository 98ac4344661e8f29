import json

import pytest

from data_setup.format.errors import SetupError
from data_setup.sources.labels import read_labels

NAMES = ["val_1.JPEG", "val_2.JPEG", "val_3.JPEG"]


def read(path, names=NAMES):
    labels, classes = read_labels(path, names)
    return labels.tolist(), classes


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("truth.txt", "490\n361\n171\n"),
        ("truth.txt", "490\r\n361\r\n171"),
        ("pairs.txt", "val_3.JPEG 171\nval_1.JPEG 490\nval_2.JPEG 361\n"),
        ("pairs.csv", "name,label\nval_2.JPEG,361\nval_3.JPEG,171\nval_1.JPEG,490\n"),
        ("stems.csv", "val_2,361\nval_3,171\nval_1,490\n"),
        ("pandas.csv", "name,label\nval_2.JPEG,361.0\nval_3.JPEG,171.0\nval_1.JPEG,490.0\n"),
        ("tabs.txt", "val_3.JPEG\t171\nval_1.JPEG\t490\nval_2.JPEG\t361\n"),
        ("semicolons.csv", "val_3.JPEG;171\nval_1.JPEG;490\nval_2.JPEG;361\n"),
        ("list.json", "[490, 361, 171]"),
        ("floats.json", "[490.0, 361.0, 171.0]"),
        ("stylegan.json", '{"labels": [["val_2.JPEG", 361], ["val_1.JPEG", 490], ["val_3.JPEG", 171]]}'),
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


@pytest.mark.parametrize("wrong", ["36l", "nan", "null", "361.5", "-1", "", "1e3", "99999999999999999999"])
def test_label_that_is_no_number_among_numbers_is_refused(tmp_path, wrong):
    path = tmp_path / "labels.csv"
    path.write_text(f"val_1,490\nval_2,{wrong}\nval_3,171\n")
    with pytest.raises(SetupError, match="the label of image 2 in the order of the names is"):
        read(path)


@pytest.mark.parametrize("wrong", ["nan", "-1", "2.5"])
def test_missing_label_among_names_is_refused(tmp_path, wrong):
    path = tmp_path / "labels.txt"
    path.write_text(f"cat\n{wrong}\ndog\n")
    with pytest.raises(SetupError, match="image 2"):
        read(path)


@pytest.mark.parametrize(
    "text", ["[1, null, 3]", "[1, true, 3]", '[{"label": 1}, {"label": 2}, {"label": 3}]', '{"val_1": [1]}']
)
def test_json_value_that_is_no_label_is_refused(tmp_path, text):
    path = tmp_path / "labels.json"
    path.write_text(text)
    with pytest.raises(SetupError, match="is not a label"):
        read(path)


def test_contradicting_duplicates_are_refused(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("val_1,1\nval_2,2\nval_1,3\nval_3,3\n")
    with pytest.raises(SetupError, match="gives val_1 the labels '1' and '3'"):
        read(path)


@pytest.mark.parametrize("names", [["a/1.jpg", "b/1.jpg", "c/2.jpg"], ["1.jpg", "1.png", "2.jpg"]])
def test_label_for_two_images_is_refused(tmp_path, names):
    path = tmp_path / "labels.csv"
    path.write_text("1,7\n2,8\n")
    with pytest.raises(SetupError, match="would take the label of 1;"):
        read(path, names)


def test_equal_base_names_are_told_apart_by_their_folders(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("b/1.jpg,7\na/1,8\n")
    assert read(path, ["a/1.jpg", "b/1.jpg"]) == ([8, 7], [])


def test_names_of_several_words_are_whole_labels(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_text("val_1,tabby cat\nval_2,tabby dog\nval_3,tabby cat\n")
    assert read(path) == ([0, 1, 0], ["tabby cat", "tabby dog"])


@pytest.mark.parametrize("text", ["0,val_1,1\n1,val_2,2\n2,val_3,3\n", "val_1,1\nval_2\nval_3,3\n"])
def test_row_with_other_columns_is_named(tmp_path, text):
    path = tmp_path / "labels.csv"
    path.write_text(text)
    with pytest.raises(SetupError, match="each row must be a label, or a name and a label"):
        read(path)


def test_labels_that_are_not_utf8_are_refused(tmp_path):
    path = tmp_path / "labels.csv"
    path.write_bytes(b"val_1,caf\xe9\n")
    with pytest.raises(SetupError, match="not a valid labels file"):
        read(path)


@pytest.mark.parametrize(
    "text", ['{"val_1": 1, "val_2": 2, "val_1": 3}', '{"labels": {"val_1": 1, "val_1": 2}}']
)
def test_contradicting_names_of_a_json_object_are_refused(tmp_path, text):
    (tmp_path / "labels.json").write_text(text)
    with pytest.raises(SetupError, match="it has the name 'val_1' twice"):
        read(tmp_path / "labels.json")


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("truth.txt", "val_3.JPEG,171\nval_1.JPEG,490\nval_2.JPEG,361\n"),
        ("truth.csv", "val_3.JPEG 171\nval_1.JPEG 490\nval_2.JPEG 361\n"),
        ("swapped.csv", "171 VAL_3\n490 VAL_1\n361 VAL_2\n"),
    ],
)
def test_pairs_with_another_separator_are_no_class_names(tmp_path, file, text):
    path = tmp_path / file
    path.write_text(text)
    with pytest.raises(SetupError, match="has the name of an image"):
        read(path)


def test_class_may_have_the_name_of_an_image_among_its_words(tmp_path):
    path = tmp_path / "truth.csv"
    path.write_text('"red fox, wild"\nwolf\nbear\n')
    assert read(path, ["bear.png", "fox.png", "wolf.png"])[1] == ["bear", "red fox, wild", "wolf"]


def test_two_texts_of_one_number_are_refused():
    with pytest.raises(SetupError, match="are the same number"):
        read(None, ["01/a.png", "1/b.png", "2/c.png"])
