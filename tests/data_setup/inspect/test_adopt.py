import io
import json
import shutil
import zipfile

import numpy as np
import pytest
from PIL import Image

from course_utils.data import JpegDataset, ZIPDataset
from course_utils.data.pack import INFO_NAME, LABELS_NAME, RawLayout
from data_setup.cli import main
from data_setup.format.layout import image_name
from data_setup.format.manifest import read_manifest
from data_setup.sources.photo_source import PhotoSource
from tests.data_setup.file_content import files_of

COUNT = 8


def as_png(image):
    buffer = io.BytesIO()
    image.save(buffer, "PNG")
    return buffer.getvalue()


def write_pack(path, members, labels, method=zipfile.ZIP_STORED, **layout):
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w", method) as pack:
        for name, data in members.items():
            pack.writestr(name, data)
        pack.writestr(INFO_NAME, json.dumps({"labels": labels} | layout))


@pytest.fixture
def old(tmp_path):
    """A set as courses have it today: no manifest, no layout declared, raw pixels not from the JPEG."""
    rendered = [PhotoSource(COUNT, 0).render(slot) for slot in range(COUNT)]
    images = {image_name(slot): image for slot, (image, _, _) in enumerate(rendered)}
    labels = {image_name(slot): label for slot, (_, label, _) in enumerate(rendered)}
    folder = tmp_path / "disk_transformed"
    folder.mkdir()
    for name, image in images.items():
        image.save(folder / name, "JPEG", quality=90)
    (folder / LABELS_NAME).write_text("".join(f"{label}\n" for label in labels.values()))
    jpegs = {name: (folder / name).read_bytes() for name in images}
    write_pack(tmp_path / "zip_encoded" / "part0.zip", jpegs, labels)
    raw = {name: image.tobytes() for name, image in images.items()}
    write_pack(tmp_path / "zip" / "part0.zip", raw, labels)
    return OldSet(tmp_path, images, labels, jpegs, raw)


class OldSet:
    def __init__(self, path, images, labels, jpegs, raw):
        self.path, self.images, self.labels, self.jpegs, self.raw = path, images, labels, jpegs, raw

    def write_encoded(self, members, **options):
        write_pack(
            self.path / "zip_encoded" / "part0.zip", members, options.pop("labels", self.labels), **options
        )

    def write_raw(self, members, **options):
        write_pack(self.path / "zip" / "part0.zip", members, options.pop("labels", self.labels), **options)

    def planes(self):
        return {n: np.asarray(i).transpose(2, 0, 1).tobytes() for n, i in self.images.items()}

    def adopt(self):
        return main(["adopt", "--out", str(self.path)])

    @property
    def header(self):
        return read_manifest(self.path / "manifest.json").header


def test_valid_set_gets_a_manifest_and_nothing_else_changes(old):
    old.write_raw(old.raw, layout="HWC", dtype="uint8", shape=[256, 256, 3])
    before = files_of(old.path)
    times = {path: path.stat().st_mtime_ns for path in old.path.rglob("*") if path.is_file()}
    assert old.adopt() == 0
    after = files_of(old.path)
    assert after.pop("manifest.json")
    assert after == before
    assert {path: path.stat().st_mtime_ns for path in times} == times
    assert main(["verify", "--out", str(old.path)]) == 0


@pytest.mark.parametrize(("order", "shape"), [("HWC", [256, 256, 3]), ("CHW", [3, 256, 256])])
def test_raw_layout_is_inferred_from_the_jpeg_files(old, order, shape):
    if order == "CHW":
        old.write_raw(old.planes())
    assert old.adopt() == 0
    assert old.header["raw_layout"] == {"layout": order, "dtype": "uint8", "shape": shape}
    assert any("did not declare its layout" in oddity for oddity in old.header["oddities"])
    RawLayout(order, tuple(shape))  # a valid layout


def test_exact_raw_pixels_are_recognised(photo_set, tmp_path):
    copy = shutil.copytree(photo_set, tmp_path / "set")
    (copy / "manifest.json").unlink()
    assert main(["adopt", "--out", str(copy)]) == 0
    assert read_manifest(copy / "manifest.json").header["oddities"] == []


def test_png_bytes_under_jpeg_names_are_reported(old):
    old.write_encoded({name: as_png(image) for name, image in old.images.items()})
    assert old.adopt() == 0
    assert any("8 PNG under JPEG names in zip_encoded/" in oddity for oddity in old.header["oddities"])


def test_compressed_members_are_reported(old):
    old.write_raw(old.raw, method=zipfile.ZIP_DEFLATED)
    assert old.adopt() == 0
    assert any("zip/part0.zip: 8 members are compressed" in oddity for oddity in old.header["oddities"])


def test_grayscale_and_other_sizes_are_reported(old):
    name = image_name(0)
    Image.new("L", (200, 100), 90).save(old.path / "disk_transformed" / name)
    old.write_encoded(old.jpegs | {name: (old.path / "disk_transformed" / name).read_bytes()})
    old.write_raw(old.raw | {name: bytes([90]) * 60_000})
    assert old.adopt() == 0
    report = "\n".join(old.header["oddities"])
    assert f"1 L images in disk_transformed/ ({name})" in report
    assert f"1 images of another size than 256x256 in disk_transformed/ ({name})" in report


def test_several_shards_are_adopted_as_one_set(old):
    names = list(old.raw)
    for form, members in (("zip", old.raw), ("zip_encoded", old.jpegs)):
        for shard, part in enumerate((names[:3], names[3:])):
            labels = {name: old.labels[name] for name in part}
            write_pack(old.path / form / f"part{shard}.zip", {name: members[name] for name in part}, labels)
    assert old.adopt() == 0
    assert old.header["forms"]["zip"]["files"] == 2


def test_unrelated_files_are_kept_and_ignored_by_verify(old):
    (old.path / "README.txt").write_text("the teacher's notes")
    assert old.adopt() == 0
    assert main(["verify", "--out", str(old.path)]) == 0


def swapped(members):
    first, second, *_ = members
    return members | {first: members[second], second: members[first]}


def damage_label_in_zip(old):
    old.write_raw(old.raw, labels=old.labels | {image_name(2): 999})


def damage_label_fraction(old):
    old.write_raw(old.raw, labels=old.labels | {image_name(2): old.labels[image_name(2)] + 0.7})


def damage_text_labels(old):
    path = old.path / "disk_transformed" / LABELS_NAME
    path.write_text("".join(reversed(path.read_text().splitlines(keepends=True))))


def damage_label_count(old):
    (old.path / "disk_transformed" / LABELS_NAME).write_text("1\n2\n")


def swap_encoded_images(old):
    old.write_encoded(swapped(old.jpegs))


def swap_raw_images(old):
    old.write_raw(swapped(old.raw))


def damage_raw_size(old):
    old.write_raw(old.raw | {image_name(3): old.raw[image_name(3)][:-3]})


def damage_declared_layout(old):
    old.write_raw(old.raw, layout="CHW", dtype="uint8", shape=[3, 256, 256])


def remove_a_member(old):
    old.write_encoded({name: data for name, data in old.jpegs.items() if name != image_name(4)})


def add_a_member(old):
    old.write_raw(old.raw | {"img99999999.JPEG": b"x"})


def add_a_file(old):
    (old.path / "disk_transformed" / "notes.txt").write_text("")


def truncate_a_jpeg(old):
    path = old.path / "disk_transformed" / image_name(5)
    path.write_bytes(path.read_bytes()[:5000])


def truncate_a_zip(old):
    path = old.path / "zip" / "part0.zip"
    path.write_bytes(path.read_bytes()[:-100])


def damage_a_byte(old):
    path = old.path / "zip" / "part0.zip"
    content = bytearray(path.read_bytes())
    content[100_000] ^= 255
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_label_in_zip, "the label of img00000002.JPEG is 999 in zip/ and"),
        (damage_label_fraction, "is not a whole number"),
        (damage_text_labels, "in the text file"),
        (damage_label_count, "8 images, but 2 labels"),
        (swap_encoded_images, "zip_encoded/: img00000000.JPEG shows another image"),
        (swap_raw_images, "zip/: img00000000.JPEG shows another image"),
        (damage_raw_size, "img00000003.JPEG has 196605 bytes; 256x256 RGB pixels take 196608"),
        (damage_declared_layout, "declares the layout CHW [3, 256, 256], but read as HWC [256, 256, 3]"),
        (remove_a_member, "zip_encoded/ has no member img00000004.JPEG"),
        (add_a_member, "zip/ has a member img99999999.JPEG without a JPEG file"),
        (add_a_file, "disk_transformed/notes.txt is neither a JPEG file nor the labels"),
        (truncate_a_jpeg, "disk_transformed/img00000005.JPEG cannot be decoded"),
        (truncate_a_zip, "not a complete zip file"),
        (damage_a_byte, "Bad CRC-32"),
    ],
)
def test_damaged_or_inconsistent_set_is_refused(old, capsys, damage, message):
    damage(old)
    before = files_of(old.path)
    assert old.adopt() == 1
    assert message in capsys.readouterr().err
    assert files_of(old.path) == before


def test_set_with_a_manifest_is_not_adopted_again(photo_set, capsys):
    assert main(["adopt", "--out", str(photo_set)]) == 1
    assert "has a manifest.json already" in capsys.readouterr().err


def test_missing_form_is_named(old, capsys):
    shutil.rmtree(old.path / "zip")
    assert old.adopt() == 1
    assert "has no zip" in capsys.readouterr().err


@pytest.mark.parametrize("order", ["HWC", "CHW"])
@pytest.mark.parametrize("method", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_adopted_set_is_read_without_stating_its_layout(old, order, method):
    old.write_raw(old.planes() if order == "CHW" else old.raw, method=method)
    path = old.path / "zip" / "part0.zip"
    with zipfile.ZipFile(path) as pack:
        before = {name: pack.read(name) for name in pack.namelist() if name != INFO_NAME}
    assert old.adopt() == 0
    with zipfile.ZipFile(path) as pack:
        assert pack.testzip() is None
        assert pack.namelist().count(INFO_NAME) == 1
        assert {name: pack.read(name) for name in before} == before
    raw, jpeg = ZIPDataset(path), JpegDataset(old.path / "disk_transformed")
    assert len(raw) == COUNT
    for (a, x), (b, y) in zip(raw, jpeg, strict=True):
        assert x == y
        assert np.abs(a.numpy().astype(int) - b.numpy()).mean() < 12
    assert main(["verify", "--out", str(old.path)]) == 0
    assert [file.name for file in path.parent.iterdir()] == ["part0.zip"]


def test_hidden_files_are_ignored(old):
    for form in ("disk_transformed", "zip", "zip_encoded"):
        (old.path / form / ".DS_Store").write_bytes(b"macOS")
    assert old.adopt() == 0
    (old.path / ".DS_Store").write_bytes(b"macOS")
    assert main(["verify", "--out", str(old.path)]) == 0


def test_picture_of_too_many_pixels_is_refused(old, capsys):
    buffer = io.BytesIO()
    Image.new("1", (20_000, 20_000)).save(buffer, "PNG")
    old.write_encoded(old.jpegs | {image_name(0): buffer.getvalue()})
    assert old.adopt() == 1
    assert "zip_encoded/img00000000.JPEG cannot be decoded" in capsys.readouterr().err
