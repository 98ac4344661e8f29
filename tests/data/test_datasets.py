import io
import os

import numpy as np
import pytest
import torch
from PIL import Image

from course_utils.data import BrokenSampleError, IndexedZIPDataset, JpegDataset, ZIPDataset, decode_image
from course_utils.data.pack import LABELS_NAME, PackError, PackInfo, RawLayout
from tests.image_set import encode_jpeg, write_pack

SHAPE = (24, 40, 3)
NAMES = [f"img{i:08d}.JPEG" for i in range(6)]
LABELS = [5, 3, 8, 0, 9, 1]


@pytest.fixture
def jpegs():
    rng = np.random.default_rng(0)
    return {name: encode_jpeg(rng.integers(0, 256, SHAPE, dtype=np.uint8)) for name in NAMES}


def raw(jpegs):
    return {name: np.asarray(Image.open(io.BytesIO(data))).tobytes() for name, data in jpegs.items()}


LABELLED = dict(zip(NAMES, LABELS, strict=True))
LAYOUT = RawLayout("HWC", SHAPE)


@pytest.fixture
def folder(tmp_path, jpegs):
    for name, data in jpegs.items():
        (tmp_path / name).write_bytes(data)
    (tmp_path / LABELS_NAME).write_text("\n".join(map(str, LABELS)))
    return tmp_path


@pytest.fixture
def forms(folder, jpegs):
    return (
        JpegDataset(folder),
        ZIPDataset(write_pack(folder / "encoded.zip", jpegs, PackInfo(LABELLED)), load_encoded=True),
        ZIPDataset(write_pack(folder / "raw.zip", raw(jpegs), PackInfo(LABELLED, LAYOUT))),
        IndexedZIPDataset(folder / "encoded.zip", load_encoded=True),
        IndexedZIPDataset(folder / "raw.zip"),
    )


def test_all_forms_return_the_same_samples(forms):
    for dataset in forms:
        assert [label for _, label in dataset] == LABELS
        for (image, _), (expected, _) in zip(dataset, forms[0], strict=True):
            assert torch.equal(image, expected)
            assert image.dtype == torch.uint8
            assert image.shape == (3, 24, 40)


def test_transform_is_applied_to_each_image(forms):
    for dataset in forms:
        dataset.transform = lambda image: image.sum().item()
        assert dataset[2][0] == forms[0][2][0]


def test_shards_form_one_dataset_sorted_by_name(tmp_path, jpegs):
    shards = []
    for part in (1, 0):
        names = NAMES[part::2]
        info = PackInfo({name: LABELLED[name] for name in names})
        shards.append(write_pack(tmp_path / f"part{part}.zip", {n: jpegs[n] for n in names}, info))
    dataset = ZIPDataset(shards, load_encoded=True)
    assert dataset.names == NAMES
    assert [label for _, label in dataset] == LABELS


def test_zip_is_opened_once(forms):
    assert len({id(pack) for pack in forms[1]._packs}) == 1


def test_missing_labels_report_both_numbers(folder):
    (folder / LABELS_NAME).write_text("1\n2\n3\n")
    with pytest.raises(PackError, match="6 images and 3 labels"):
        JpegDataset(folder)


def test_error_names_file_that_is_not_an_image(folder):
    (folder / NAMES[4]).write_bytes(b"not a picture")
    with pytest.raises(PackError, match=NAMES[4]):
        JpegDataset(folder)[4]


def test_error_names_truncated_jpeg(folder, jpegs):
    (folder / NAMES[4]).write_bytes(jpegs[NAMES[4]][:-200])
    with pytest.raises(PackError, match=NAMES[4]):
        JpegDataset(folder)[4]


def test_raw_members_without_layout_need_one_as_argument(tmp_path, jpegs):
    path = write_pack(tmp_path / "old.zip", raw(jpegs), PackInfo(LABELLED))
    with pytest.raises(PackError, match="layout=RawLayout"):
        ZIPDataset(path)
    assert ZIPDataset(path, layout=LAYOUT)[0][0].shape == (3, 24, 40)


def test_contradicting_layout_is_rejected(tmp_path, jpegs):
    path = write_pack(tmp_path / "raw.zip", raw(jpegs), PackInfo(LABELLED, LAYOUT))
    with pytest.raises(PackError, match=r"but .*CHW.* was requested"):
        ZIPDataset(path, layout=RawLayout("CHW", (3, 24, 40)))


def test_jpeg_member_read_as_raw_suggests_load_encoded(tmp_path, jpegs):
    path = write_pack(tmp_path / "mixed.zip", jpegs, PackInfo(LABELLED, LAYOUT))
    with pytest.raises(PackError, match=rf"{NAMES[0]}.*load_encoded=True"):
        ZIPDataset(path)[0]


def test_error_names_raw_member_read_as_jpeg(tmp_path, jpegs):
    path = write_pack(tmp_path / "raw.zip", raw(jpegs), PackInfo(LABELLED, LAYOUT))
    with pytest.raises(PackError, match=NAMES[1]):
        ZIPDataset(path, load_encoded=True)[1]


def test_error_names_member_without_label(tmp_path, jpegs):
    path = write_pack(tmp_path / "part0.zip", jpegs, PackInfo(dict(list(LABELLED.items())[:-1])))
    with pytest.raises(PackError, match=NAMES[-1]):
        ZIPDataset(path, load_encoded=True)


def test_error_names_empty_zip(tmp_path):
    with pytest.raises(PackError, match=r"part0\.zip: no images"):
        ZIPDataset(write_pack(tmp_path / "part0.zip", {}, PackInfo({})), load_encoded=True)


def test_checksum_detects_flipped_bit(tmp_path, jpegs):
    path = write_pack(tmp_path / "raw.zip", raw(jpegs), PackInfo(LABELLED, LAYOUT))
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(data)
    with pytest.raises(PackError, match=NAMES[0]):
        ZIPDataset(path)[0]


def test_damage_that_pillow_returns_a_picture_for_is_an_error(folder, jpegs):
    """Flips of bits of which libjpeg only warns, and a height that is larger than the data."""
    whole, rng = jpegs[NAMES[0]], np.random.default_rng(0)
    dataset, silent = JpegDataset(folder), 0
    for position in rng.integers(0, len(whole), 200):
        damaged = bytearray(whole)
        damaged[position] ^= 1 << int(rng.integers(8))
        (folder / NAMES[0]).write_bytes(damaged)
        try:
            strict = dataset[0][0]
        except PackError:
            continue
        with Image.open(folder / NAMES[0]) as image:
            assert np.array_equal(strict.permute(1, 2, 0), np.asarray(image.convert("RGB")))
        silent += 1  # valid code, or a comment
    assert silent < 150
    height = whole.index(b"\xff\xc0") + 6
    (folder / NAMES[0]).write_bytes(whole[: height - 1] + b"\1\0" + whole[height + 1 :])
    with pytest.raises(PackError, match=r"[Pp]remature end"):
        dataset[0]


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "BMP", "GIF", "TIFF"])
def test_other_image_formats_are_decoded(folder, jpegs, kind):
    with Image.open(io.BytesIO(jpegs[NAMES[0]])) as image:
        image.save(folder / NAMES[0], kind)
    assert JpegDataset(folder)[0][0].shape == (3, 24, 40)


def test_format_that_would_start_a_program_is_refused(folder):
    (folder / NAMES[0]).write_bytes(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n")
    with pytest.raises(PackError, match=NAMES[0]):
        JpegDataset(folder)[0]


def test_pipe_is_no_image(folder):
    os.mkfifo(folder / "img00000009.JPEG")
    assert len(JpegDataset(folder)) == 6


@pytest.mark.parametrize("text", [b"1 2 3 4 5 811.7", b"1 2 3 4 5 x", "1 2 3 4 5 \u00e9".encode("latin-1")])
def test_label_that_is_no_whole_number_names_the_file(folder, text):
    (folder / LABELS_NAME).write_bytes(text)
    with pytest.raises(PackError, match=rf"{LABELS_NAME}: .*one whole number per line"):
        JpegDataset(folder)


def test_shard_given_twice_is_refused(tmp_path, jpegs):
    path = write_pack(tmp_path / "part0.zip", jpegs, PackInfo(LABELLED))
    with pytest.raises(PackError, match="occurs more than once"):
        ZIPDataset([path, path], load_encoded=True)
    with pytest.raises(PackError, match="an empty list of packs"):
        ZIPDataset([], load_encoded=True)


@pytest.mark.parametrize("dtype", ["uint16", "int32", "float32"])
def test_pixels_that_are_no_numbers_from_0_to_255_are_broken(tmp_path, dtype):
    picture = tmp_path / "deep.tiff"
    Image.fromarray(np.linspace(0, 60_000, 64).reshape(8, 8).astype(dtype)).save(picture)
    with pytest.raises(BrokenSampleError, match="pixels of the kind"):
        decode_image(picture, "deep.tiff")
