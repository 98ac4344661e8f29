"""Lessons show what was recorded, and say so where nobody has recorded anything."""

import matplotlib.pyplot as plt
import msgspec
import pytest

from course_utils.record import NOBODY, mark, recorded, shown, table
from tests.record.samples import complete


@pytest.fixture
def site(tmp_path, monkeypatch):
    """A data directory without records."""
    for form in ("disk_transformed", "zip_encoded", "zip", ".records"):
        (tmp_path / form).mkdir()
    monkeypatch.setenv("COURSE_DATA", str(tmp_path))
    monkeypatch.setattr(shown, "SHIPPED", tmp_path / "shipped")
    return tmp_path / ".records"


def write(path, record):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(msgspec.json.encode(record))


@pytest.fixture
def axes():
    figure, axes = plt.subplots()
    yield axes
    plt.close(figure)


def test_without_records_plots_and_tables_say_so(site, axes):
    assert mark(axes, "epochs", {"JPEG files, first": (0, float)}) == NOBODY
    assert table("transfers") == NOBODY
    assert not axes.lines


def test_records_of_the_course_come_before_those_of_the_site(site):
    write(site / "record_here.json", complete(file_system="gpfs"))
    write(site.parent / "shipped" / "record_there.json", complete(file_system="nfs"))
    write(site / "quick_here.json", complete(file_system="tmpfs"))
    assert [record.machine.file_system for record in recorded("epochs")] == ["nfs", "gpfs"]


def test_record_without_a_part_is_not_shown_for_it(site):
    write(site / "record_here.json", complete(gpu=""))
    assert recorded("epochs")
    assert not recorded("transfers")


def test_damaged_record_is_left_out_with_a_warning(site):
    (site / "record_bad.json").write_text("{")
    with pytest.warns(UserWarning, match="record_bad.json is left out: it is no record"):
        assert not recorded("epochs")


def test_unknown_part_is_an_error(site):
    with pytest.raises(ValueError, match="'epoch' is no part of a record; there are epochs"):
        recorded("epoch")


def test_without_data_only_records_of_the_course_are_shown(monkeypatch, tmp_path):
    monkeypatch.setenv("COURSE_DATA", str(tmp_path / "none"))
    monkeypatch.setattr(shown, "SHIPPED", tmp_path)
    assert recorded("epochs") == []


@pytest.mark.parametrize("sideways", [False, True])
def test_letter_and_dot_stand_at_the_median_and_a_line_over_the_range(site, axes, sideways):
    write(site / "record_here.json", complete())
    text = mark(axes, "epochs", {"JPEG files, first": (3, lambda s: 1000 * s)}, sideways=sideways)
    assert text == "A: recorded on Scripted GPU, A processor, lustre, 2026-11-01"
    assert [text.get_text() for text in axes.texts] == ["A"]
    line, dot = (one.get_xydata().tolist() for one in axes.lines)
    expected = [[3, 2.0], [3, 2.2]], [[3, 2.1]]
    flipped = [[point[::-1] for point in points] for points in expected]
    for found, right in zip((line, dot), flipped if sideways else expected, strict=True):
        assert found == [pytest.approx(point) for point in right]


def test_table_has_medians_ranges_and_units(site):
    record = complete()
    record.parts["decoding"].left_out = {"torchvision, GPU (nvJPEG)": "RuntimeError: no"}
    write(site / "record_here.json", record)
    assert table("decoding").splitlines() == [
        "recorded on Scripted GPU, A processor, lustre, 2026-11-01",
        "  Pillow                                   2,100 (2,000 to 2,200) images per s",
        "  TorchCodec, GPU (nvJPEG)                 9,450 (9,000 to 9,900) images per s",
        "  torchvision, GPU (nvJPEG)                left out: RuntimeError: no",
    ]
