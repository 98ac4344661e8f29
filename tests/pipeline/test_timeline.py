import matplotlib as mpl
import pytest

from course_utils.pipeline.examples import example_pipelines
from course_utils.pipeline.timeline import draw_runs
from course_utils.pipeline.trace import Run, Span

mpl.use("Agg")
SAME_COLOUR = ("decode", "load")


@pytest.fixture
def figure():
    figure = draw_runs([example.run() for example in example_pipelines()[:3]], skip=8, milliseconds=100)
    yield figure
    mpl.pyplot.close(figure)


def test_titles_show_source_step_time_and_idle_share(figure):
    titles = [axes.get_title(loc="left") for axes in figure.axes[:2]]
    assert titles == [
        "naive loop (model): 30.0 ms a step, idle 73 %",
        "fast read (model): 26.0 ms a step, idle 69 %",
    ]


def test_time_axes_have_a_unit_and_a_common_scale(figure):
    assert {axes.get_xlabel() for axes in figure.axes[:3]} == {"time after step 8 (ms)"}
    assert {axes.get_xlim() for axes in figure.axes[:3]} == {(0, 100)}


def test_lanes_label_the_rows_and_stages_the_legend(figure):
    assert [t.get_text() for t in figure.axes[0].get_yticklabels()] == [
        "main process",
        "copy engine",
        "accelerator",
    ]
    labels = [t.get_text() for t in figure.legends[0].get_texts()]
    assert labels == ["read", "decode", "transfer", "compute", "idle"]


def test_stages_of_one_colour_share_a_legend_entry():
    spans = [
        (Span("main process", stage, 0, 0, 1), Span("main process", "compute", 0, 1, 2))
        for stage in SAME_COLOUR
    ]
    figure = draw_runs([Run(stage, "model", pair) for stage, pair in zip(SAME_COLOUR, spans, strict=True)])
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["decode / load", "compute", "idle"]
    mpl.pyplot.close(figure)


def test_idle_time_is_hatched_in_the_computing_lane(figure):
    hatched = [bar for bar in figure.axes[0].patches if bar.get_hatch()]
    assert [bar.get_x() for bar in hatched] == pytest.approx([0, 30, 60, 90])
    assert [bar.get_width() for bar in hatched] == pytest.approx([22, 22, 22, 10])
    assert {round(bar.get_y() + bar.get_height() / 2) for bar in hatched} == {0}


def test_idle_time_has_a_row_where_the_computing_lane_does_other_things_too():
    """Their bars would cover the hatching."""
    spans = [
        Span("main process", stage, 0, start, start + 1) for start, stage in enumerate(("load", "compute"))
    ]
    figure = draw_runs([Run("one lane", "cpu", tuple(spans))], columns=1)
    axes = figure.axes[0]
    rows = dict(zip([t.get_text() for t in axes.get_yticklabels()], axes.get_yticks(), strict=True))
    assert list(rows) == ["main process", "idle"]
    [hatched] = [bar for bar in axes.patches if bar.get_hatch()]
    assert hatched.get_y() + hatched.get_height() / 2 == pytest.approx(rows["idle"])
    assert (hatched.get_x(), hatched.get_width()) == (0, 1000)
    mpl.pyplot.close(figure)


def test_long_titles_have_two_lines():
    span = Span("accelerator", "compute", 0, 0, 1)
    run = Run("prefetch on the GPU", "NVIDIA H100 80GB HBM3", (span,))
    figure = draw_runs([run])
    name, numbers = figure.axes[0].get_title(loc="left").split("\n")
    assert (name, numbers) == ("prefetch on the GPU (NVIDIA H100 80GB HBM3):", "1000.0 ms a step, idle 0 %")
    mpl.pyplot.close(figure)


def test_skipped_steps_are_not_drawn():
    run = example_pipelines()[0].run()
    figure = draw_runs([run], skip=8, milliseconds=60, columns=1)
    axes = figure.axes[0]
    assert axes.get_xlabel() == "time after step 8 (ms)"
    assert [text.get_text() for text in axes.texts] == ["8", "9"]
    mpl.pyplot.close(figure)


def test_lanes_of_many_workers_are_limited():
    spans = [Span(f"worker {n}", "decode", n, 0, 1) for n in range(63)]
    run = Run("many", "model", (*spans, Span("main process", "compute", 0, 1, 2)))
    figure = draw_runs([run], columns=1)
    labels = [t.get_text() for t in figure.axes[0].get_yticklabels()]
    assert labels == [*(f"worker {n}" for n in range(8)), "55 more workers", "main process"]
    assert figure.get_figheight() < 6
    mpl.pyplot.close(figure)
