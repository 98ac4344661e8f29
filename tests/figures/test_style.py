"""The pictures of a lesson have no background, and lines and words that both themes of JupyterLab show."""

import base64
import io

import matplotlib as mpl
import numpy as np
import pytest
from IPython.core.pylabtools import print_figure
from matplotlib import colors
from matplotlib import pyplot as plt
from matplotlib_inline.backend_inline import _fetch_figure_metadata
from matplotlib_inline.config import InlineBackend
from PIL import Image

from course_utils.figures import INK, use_course_style
from tests.lessons.lesson import Lesson, code_cells, read

mpl.use("Agg")
LIGHT, DARK = "#ffffff", "#111111"  # the backgrounds of JupyterLab's notebooks


def luminance(colour):
    channels = np.array(colors.to_rgb(colour))
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return linear @ (0.2126, 0.7152, 0.0722)


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.fixture
def styled():
    with plt.rc_context():
        use_course_style()
        yield
        del InlineBackend.instance().print_figure_kwargs["facecolor"]
        plt.close("all")


@pytest.mark.parametrize("background", [LIGHT, DARK])
def test_ink_is_readable_in_both_themes(background):
    assert contrast(INK, background) > 4


@pytest.fixture
def figure(styled):
    figure, axes = plt.subplots()
    axes.annotate("an arrow", (0.2, 0.2), (0.8, 0.8), arrowprops={"arrowstyle": "->"})
    axes.set(title="title", xlabel="x", ylabel="y")
    axes.bar([0], [0.5], fc="none", hatch="//", label="a bar")
    axes.legend(frameon=False)
    return figure


def test_background_is_transparent_and_all_that_is_drawn_by_default_is_ink(figure):
    picture = Image.open(io.BytesIO(print_figure(figure, **InlineBackend.instance().print_figure_kwargs)))
    pixels = np.asarray(picture.convert("RGBA"), dtype=int).reshape(-1, 4)
    assert pixels[0, 3] == 0
    solid = pixels[pixels[:, 3] == 255, :3]
    assert len(solid)
    assert np.abs(solid - 255 * np.array(colors.to_rgb(INK))).max() < 2


def test_no_background_is_asked_of_jupyterlab(figure):
    """With a figure that is transparent itself, the kernel would ask for one by the metadata."""
    assert not _fetch_figure_metadata(figure)


def test_plots_of_each_lesson_are_saved_without_a_background(lesson: Lesson):
    saved = [output for cell in code_cells(read(lesson.solution)) for output in cell.outputs]
    for output in (one for one in saved if "image/png" in one.get("data", {})):
        picture = Image.open(io.BytesIO(base64.b64decode(output.data["image/png"]))).convert("RGBA")
        assert (picture.getpixel((0, 0))[3], output.metadata) == (0, {})


def test_each_lesson_with_plots_uses_the_style_when_it_begins(lesson: Lesson):
    sources = [cell.source for cell in code_cells(read(lesson.solution))]
    if any("plt." in source for source in sources):
        assert "\nuse_course_style()\n" in f"\n{sources[0]}\n"
