"""Waiting times, label and plot of the shared file system model."""

import matplotlib as mpl
import pytest

from course_utils.storage.io_counter import FileOps
from course_utils.storage.shared_fs import SharedFilesystem, plot_load

mpl.use("Agg")

JPEG = FileOps(opens=4000, stats=4000, reads=12000, nbytes=80_000_000)


@pytest.mark.parametrize(
    ("operations", "expected"),
    [
        (FileOps(), 0.0),
        (FileOps(opens=2), 2.0),
        (FileOps(listings=2), 2.0),
        (FileOps(stats=3), 1.5),
        (FileOps(reads=4), 0.4),
        (FileOps(nbytes=5_000_000), 0.5),
        (FileOps(opens=2, stats=3), 2.54),
        (FileOps(1, 1, 1, 1, 1_000_000), 2.22),
    ],
)
def test_each_operation_takes_its_time(operations, expected):
    model = SharedFilesystem(open_ms=1000, stat_ms=500, size_ms=20, read_ms=100, bandwidth_mb_s=10)
    assert model.seconds(operations) == pytest.approx(expected)


@pytest.mark.parametrize(("load", "times"), [(0.5, 2), (0.9, 10), (0.99, 100)])
def test_load_multiplies_the_waiting_time(load, times):
    assert SharedFilesystem(load=load).seconds(JPEG) == pytest.approx(
        times * SharedFilesystem().seconds(JPEG)
    )


@pytest.mark.parametrize(
    "wrong", [{"load": 1.0}, {"load": -0.1}, {"open_ms": -1}, {"bandwidth_mb_s": 0}, {"block_bytes": 1}]
)
def test_invalid_parameter_raises_with_its_name(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        SharedFilesystem(**wrong)


def test_label_and_plot_say_that_they_show_a_model():
    assert SharedFilesystem(load=0.8).label == "model of a shared file system, load 80 %"
    ax = plot_load({"JPEG files": JPEG, "zip": FileOps(1, 1, 12000, 0, 80_000_000)})
    assert ax.get_title(loc="left") == "Model of a shared file system (not a measurement)"
    assert "(s)" in ax.get_ylabel()
    assert len(ax.lines) == 2
    assert ax.lines[0].get_ydata()[0] == pytest.approx(SharedFilesystem().seconds(JPEG))
    mpl.pyplot.close("all")


@pytest.mark.parametrize("epoch", [JPEG, FileOps(1, 1, 600), FileOps(opens=1)])
def test_labels_of_the_waiting_time_are_plain_numbers(epoch):
    """The formatter of a logarithmic axis mixes 10 with 6 × 10⁰."""
    ax = plot_load({"epoch": epoch}, loads=[0, 0.5])
    ax.figure.draw_without_rendering()
    labels = [text.get_text() for text in ax.get_yticklabels(which="both") if text.get_text()]
    assert labels
    assert all(float(label) > 0 for label in labels)
    mpl.pyplot.close("all")
