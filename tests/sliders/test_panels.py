"""Sliders change the numbers and the picture; without a user a picture stands in."""

import base64
import io
import re
from types import SimpleNamespace

import ipywidgets
import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from course_utils.pipeline import Pipeline, StageTimes, simulate
from course_utils.scaling import NODES, ParallelFilesystem, Training, reading_ways, scale
from course_utils.sliders import panel as panel_module
from course_utils.sliders import pipeline_sliders, scaling_sliders, shared_fs_sliders
from course_utils.sliders.panel import WIDGET, Panel
from course_utils.sliders.pipeline_model import BATCHES, SKIP
from course_utils.storage import FileOps, SharedFilesystem

mpl.use("Agg")

FORMS = {"JPEG files": FileOps(2000, 2000, 6000, 0, 44_000_000), "zip": FileOps(1, 1, 2000, 0, 44_000_000)}
MS = 1e-3
TIMES = StageTimes(read=2 * MS, decode=20 * MS, transfer=2 * MS, compute=8 * MS)
FILES, PACK = FileOps(10**6, 10**6, 3 * 10**6, 0, 10**11), FileOps(8, 8, 10**6, 0, 10**11)
WAYS = reading_ways(FILES, PACK)
TRAINING = Training(StageTimes(decode=1.2, compute=0.1), WAYS[0], 10**6, 256, workers=16, epochs=10)


def of_pipeline() -> Panel:
    return pipeline_sliders(Pipeline(workers=2), TIMES)


def of_shared_fs() -> Panel:
    return shared_fs_sliders(FORMS)


def of_scaling() -> Panel:
    return scaling_sliders(TRAINING, WAYS[1])


PANELS = [of_pipeline, of_shared_fs, of_scaling]


def picture(panel: Panel) -> np.ndarray:
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(panel.redraw()))))


def move(panel: Panel, **values: float) -> str:
    panel.widget()
    for name, value in values.items():
        panel.controls[name].value = value
    return panel.text


@pytest.fixture
def shown(monkeypatch) -> list[dict[str, object]]:
    """What a cell displays; `user` says whether somebody could answer `input()`."""
    bundles: list[dict[str, object]] = []
    monkeypatch.setattr(panel_module, "display", lambda bundle, raw: bundles.append(bundle))
    return bundles


def ask_from(monkeypatch, **content: object) -> None:
    shell = SimpleNamespace(get_parent=lambda: {"content": content})
    monkeypatch.setattr(panel_module, "get_ipython", lambda: shell)


@pytest.mark.parametrize("make", PANELS)
def test_a_front_end_with_a_user_shows_the_widget_and_a_picture_for_other_viewers(make, shown, monkeypatch):
    ask_from(monkeypatch, allow_stdin=True)
    panel = make()
    panel._ipython_display_()
    [bundle] = shown
    assert set(bundle) == {WIDGET, "image/png", "text/plain"}
    assert bundle["text/plain"] == panel.text


@pytest.mark.parametrize("make", PANELS)
@pytest.mark.parametrize("content", [{"allow_stdin": False}, {}])
def test_without_a_user_numbers_and_a_picture_stand_in(make, content, shown, monkeypatch):
    ask_from(monkeypatch, **content)
    panel = make()
    panel._ipython_display_()
    numbers, drawn = shown
    assert not panel.controls, "a widget would be saved with the notebook"
    assert numbers == {"text/plain": panel.text}
    assert set(drawn) == {"image/png", "text/plain"}
    assert base64.b64decode(drawn["image/png"]).startswith(b"\x89PNG")


def test_outside_a_kernel_a_picture_stands_in(shown, monkeypatch):
    monkeypatch.setattr(panel_module, "get_ipython", lambda: None)
    of_shared_fs()._ipython_display_()
    assert not any(WIDGET in bundle for bundle in shown)


def other(control: ipywidgets.ValueWidget) -> float:
    """Another position of a slider."""
    if isinstance(control, ipywidgets.Checkbox):
        return not control.value
    return control.max if control.value < control.max else control.min


@pytest.mark.parametrize("make", PANELS)
def test_every_slider_changes_the_numbers(make, monkeypatch):
    monkeypatch.setattr(Panel, "_png", lambda _: "")  # takes most of the time
    panel = make()
    panel.widget()
    without_effect = set()
    for name, control in panel.controls.items():
        before, value = panel.text, control.value
        control.value = other(control)
        if panel.text == before:
            without_effect.add(name)
        control.value = value
    # Even batches need no prefetching, and the longest stage stays the longest.
    assert without_effect <= {"prefetch_factor", "pinned", "ahead"}


@pytest.mark.parametrize("make", PANELS)
def test_moving_back_gives_the_first_picture_again(make, monkeypatch):
    """Nothing of an earlier picture remains."""
    panel = make()
    panel.widget()
    first = picture(panel)
    with monkeypatch.context() as no_pictures:
        no_pictures.setattr(Panel, "_png", lambda _: "")
        for control in panel.controls.values():
            value = control.value
            control.value = other(control)
            control.value = value
    np.testing.assert_array_equal(picture(panel), first)
    assert first.max() > 0


@pytest.mark.parametrize("make", PANELS)
def test_picture_has_alt_text_and_screen_readers_hear_new_numbers(make):
    shown = make().widget().children[-1].value
    assert re.search(r'<img [^>]*alt="[A-Z][^"]{30,}"', shown)
    assert '<pre aria-live="polite">' in shown


@pytest.mark.parametrize("make", PANELS)
@pytest.mark.proof
@settings(max_examples=8)
@given(data=st.data())
def test_all_positions_of_the_sliders_can_be_drawn(make, data):
    panel = make()
    panel.widget()
    for control in panel.controls.values():
        if isinstance(control, ipywidgets.Checkbox):
            control.value = data.draw(st.booleans())
        else:
            control.value = data.draw(st.sampled_from([control.min, control.value, control.max]))
    panel.redraw()
    assert "nan" not in panel.text


@pytest.mark.parametrize("make", PANELS)
def test_picture_has_a_margin_around_all_labels(make):
    panel = make()
    panel.redraw()
    figure = panel._canvas.figure
    drawn, (width, height) = figure.get_tightbbox(), figure.get_size_inches()
    assert min(drawn.x0, drawn.y0, width - drawn.x1, height - drawn.y1) >= 0.04


def test_pipeline_sliders_say_what_the_colours_mean():
    [legend] = of_pipeline()._canvas.figure.legends
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["read", "decode", "pin", "wait", "transfer", "compute", "idle"]


def test_pipeline_sliders_print_the_numbers_of_the_model():
    text = move(of_pipeline(), workers=3, decode=19, compute=5, pinned=True, ahead=True)
    run = simulate(
        Pipeline(workers=3, pin=True, non_blocking=True, device_prefetch=1),
        StageTimes(read=2 * MS, decode=19 * MS, transfer=2 * MS, compute=5 * MS),
        BATCHES,
    )
    assert f"the model says {1e3 * run.step_seconds(SKIP):.1f} ms a step" in text
    assert "the sum is 28 ms" in text
    assert "the longest is 7 ms" in text


@pytest.mark.proof
@settings(max_examples=80)
@given(
    settings=st.builds(
        Pipeline,
        workers=st.integers(0, 8),
        prefetch_factor=st.integers(1, 8),
        pin=st.booleans(),
        non_blocking=st.booleans(),
        device_prefetch=st.integers(0, 1),
    ),
    ms=st.fixed_dictionaries(
        {name: st.integers(name == "compute", 30) for name in ("read", "decode", "transfer", "compute")}
    ),
)
def test_the_model_stays_between_the_bounds_that_are_printed_above_it(settings, ms):
    times = StageTimes(**{name: MS * value for name, value in ms.items()})
    step = 1e3 * simulate(settings, times, BATCHES).step_seconds(SKIP)
    longest = max((ms["read"] + ms["decode"]) / max(settings.workers, 1), ms["transfer"], ms["compute"])
    assert 0.9 * longest <= step <= sum(ms.values()) + 1e-6


def test_shared_fs_sliders_print_the_numbers_of_the_model():
    text = move(of_shared_fs(), load=80, users=7)
    for name, counts in FORMS.items():
        [line] = [line for line in text.splitlines() if line.startswith(name)]
        assert f"{SharedFilesystem(load=0.8).seconds(counts):.1f} s" in line
        assert f"{7 * counts.operations:,} operations" in line


def test_scaling_sliders_print_the_numbers_of_the_model():
    text = move(of_scaling(), doublings=7)
    point = scale(TRAINING, ParallelFilesystem())[NODES.index(128)]
    [line] = [line for line in text.splitlines() if line.startswith("as it is")]
    assert f"{point.images_per_second:,.0f} images/s" in line
    assert point.limit in line
    assert text.startswith("128 nodes\n")
