"""Sliders for the model of an input pipeline."""

from matplotlib.axes import Axes

from course_utils.pipeline import Pipeline, StageTimes, draw_run, legend_patches, simulate
from course_utils.sliders.panel import Drawing, Panel, Slider

__all__ = ["pipeline_sliders"]

# Several rounds of eight workers, and two that fill the pipeline.
BATCHES, SKIP, SHOWN_S = 80, 16, 0.1
MOST_MS = 30


def pipeline_sliders(pipeline: Pipeline, times: StageTimes) -> Panel:
    """Return sliders for workers, prefetching and the time of each stage, above the timeline of the model.

    Args:
        pipeline: The settings at the start.
        times: Seconds per batch at the start, one number for each stage.
    """
    stages = {name: 1e3 * times.of(name, 0) for name in ("read", "decode", "transfer", "compute")}
    sliders = {
        "workers": Slider("workers", pipeline.workers, 0, 8),
        "prefetch_factor": Slider("prefetch_factor", pipeline.prefetch_factor, 1, 8),
        **{
            # A step needs a computation.
            name: Slider(f"{name} (ms)", round(ms), int(name == "compute"), MOST_MS)
            for name, ms in stages.items()
        },
        "pinned": Slider("pinned, non_blocking", pipeline.pin and pipeline.non_blocking),
        "ahead": Slider("copied ahead on the device", bool(pipeline.device_prefetch)),
    }
    return Panel(
        sliders,
        Drawing(
            _draw,
            _frame,
            size=(7.0, 3.5),
            axes=(0.17, 0.23, 0.80, 0.68),
            alt="A timeline of the pipeline: what each worker, the copy engine and the accelerator do when.",
        ),
    )


def _frame(axes: Axes) -> None:
    patches = legend_patches({"read", "decode", "pin", "wait", "transfer", "compute"})
    look = {"frameon": False, "fontsize": 9, "handlelength": 1.5, "columnspacing": 1.2}
    axes.figure.legend(handles=patches, ncols=len(patches), loc="lower center", **look)


def _draw(
    axes: Axes,
    workers: int,
    prefetch_factor: int,
    read: int,
    decode: int,
    transfer: int,
    compute: int,
    pinned: bool,
    ahead: bool,
) -> str:
    settings = Pipeline(
        workers=workers,
        prefetch_factor=prefetch_factor,
        pin=pinned,
        non_blocking=pinned,
        device_prefetch=int(ahead),
    )
    in_seconds = {
        name: ms / 1e3
        for name, ms in (("read", read), ("decode", decode), ("transfer", transfer), ("compute", compute))
    }
    total = read + decode + transfer + compute
    longest = max((read + decode) / max(workers, 1), transfer, compute)
    run = simulate(settings, StageTimes(**in_seconds), BATCHES, name="this pipeline")
    draw_run(run, axes, SKIP, SHOWN_S)
    step, idle = 1e3 * run.step_seconds(SKIP), run.idle_fraction(SKIP)
    return (
        f"nothing overlaps:    the sum is {total} ms\n"
        f"everything overlaps: the longest is {longest:.3g} ms\n"
        f"the model says {step:.1f} ms a step; the accelerator idles {idle:.0%} of it"
    )
