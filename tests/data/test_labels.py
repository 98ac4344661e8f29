"""Labels mean one thing or are an error, wherever they stand."""

import json
import zipfile

import pytest

from course_utils.data import IndexedZIPDataset, JpegDataset, PackedImages, ZIPDataset
from course_utils.data.pack import INFO_NAME, LABELS_NAME, PackError, PackInfo, labels_of_lines, whole_number
from data_setup.format.errors import SetupError
from data_setup.inspect.adopt import adopt_set
from tests.image_set import numbered_jpeg

READERS = {
    "zipfile": lambda path: ZIPDataset(path, load_encoded=True),
    "index": lambda path: IndexedZIPDataset(path, load_encoded=True),
    "arrays": PackedImages,
}
NAMES = [f"img{i:08d}.JPEG" for i in range(8)]


@pytest.mark.parametrize("text", ["7", "-1", "+3", "0007", str(2**63 - 1), str(-(2**63))])
def test_decimal_numbers_of_64_bits_are_labels(text):
    assert whole_number(text) == int(text)
    assert whole_number(int(text)) == int(text)


NO_LABELS = ["1_0", "٣", "３", "0x1", "1e3", "9.0", "", "--1", "nan", str(2**63), str(2**70), "9" * 5000]


@pytest.mark.parametrize("text", NO_LABELS)
def test_other_texts_are_no_labels(text):
    with pytest.raises(ValueError, match="label"):
        whole_number(text)


@pytest.mark.parametrize("value", [2**70, -(2**63) - 1, True, None, 8.0, float("nan"), [1], {}])
def test_other_values_are_no_labels(value):
    with pytest.raises(ValueError, match="label"):
        whole_number(value)


def test_lines_of_labels():
    assert labels_of_lines("1\n2\r\n 3\n\n") == [1, 2, 3]


@pytest.mark.parametrize("text", ["1 2", "1\n\n2", "1\f2", "1\u20282", "1,2"])
def test_lines_that_are_no_labels(text):
    with pytest.raises(ValueError, match="label"):
        labels_of_lines(text)


@pytest.mark.parametrize("text", ["{}", "[1]", "1", '{"labels": [["a", 0]]}', '{"labels": null}'])
def test_description_of_another_structure_is_shown_the_right_one(text):
    with pytest.raises(PackError, match="the name of a member"):
        PackInfo.from_json(text)


@pytest.mark.parametrize("reader", READERS.values(), ids=list(READERS))
@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_descriptions_are_refused(reader, tmp_path):
    path = tmp_path / "part0.zip"
    labels = dict.fromkeys(NAMES, 7)
    pack(path, json.dumps({"labels": labels}))
    with zipfile.ZipFile(path, "a") as zipped:
        zipped.writestr(INFO_NAME, json.dumps({"labels": dict.fromkeys(NAMES, 8)}))
    with pytest.raises(PackError, match="two members have the"):
        reader(path)


def pack(path, text):
    with zipfile.ZipFile(path, "w") as zipped:
        for i, name in enumerate(NAMES):
            zipped.writestr(name, numbered_jpeg(i))
        zipped.writestr(INFO_NAME, text)
    return path


def described(**labels):
    return json.dumps({"labels": dict.fromkeys(NAMES, 1) | labels})


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (described()[:-2] + f', "{NAMES[3]}": 2}}}}', f"has the name '{NAMES[3]}' twice"),
        (described()[:-1] + ', "labels": {}}', "has the name 'labels' twice"),
        (described(**{NAMES[1]: "1_0"}), "'1_0' is not a whole number"),
        (described(**{NAMES[1]: 2**70}), f"{2**70} does not fit into 64 bits"),
        (
            described(**{"a.JPEG": 1, "b.JPEG": 2}),
            "2 labels .* that are not there, the first are a.JPEG, b.JPEG",
        ),
        (
            json.dumps({"labels": dict.fromkeys(NAMES[2:], 1)}),
            f"2 members have no label, the first are {NAMES[0]}",
        ),
        ('{"labels": ' + "[" * 100_000, "does not describe a pack"),
    ],
)
def test_description_that_could_be_meant_in_two_ways_is_refused(tmp_path, reader, text, reason):
    with pytest.raises(PackError, match=rf"part0\.zip: .*{reason}"):
        READERS[reader](pack(tmp_path / "part0.zip", text))


@pytest.mark.parametrize("reader", READERS)
def test_right_description_is_read(tmp_path, reader):
    text = PackInfo({name: i for i, name in enumerate(NAMES)}).to_json()
    assert list(READERS[reader](pack(tmp_path / "part0.zip", text)).labels) == list(range(8))


@pytest.mark.parametrize("label", [*NO_LABELS[:2], str(2**70)])
def test_text_file_of_labels_is_as_strict(image_set, tmp_path, label):
    (tmp_path / "img00000000.JPEG").write_bytes(numbered_jpeg(0))
    (tmp_path / LABELS_NAME).write_text(label, encoding="utf-8")
    with pytest.raises(PackError, match=LABELS_NAME):
        JpegDataset(tmp_path)


def test_set_with_labels_of_other_members_is_not_adopted(tmp_path):
    for form in ("disk_transformed", "zip_encoded", "zip"):
        (tmp_path / form).mkdir()
    for form in ("zip_encoded", "zip"):
        pack(tmp_path / form / "part0.zip", described(**{"more.JPEG": 1}))
    for i, name in enumerate(NAMES):
        (tmp_path / "disk_transformed" / name).write_bytes(numbered_jpeg(i))
    (tmp_path / "disk_transformed" / LABELS_NAME).write_text("1\n" * 8)
    with pytest.raises(SetupError, match=r"labels? .*more\.JPEG"):
        adopt_set(tmp_path)
