"""Sliders for the model of a training on many nodes."""

from dataclasses import replace

from matplotlib.axes import Axes

from course_utils.figures import INK
from course_utils.scaling import (
    ParallelFilesystem,
    Training,
    Way,
    draw_scaling,
    frame_scaling,
    scale,
    useful_nodes,
    variants,
)
from course_utils.sliders.panel import Drawing, Panel, Slider, named

__all__ = ["scaling_sliders"]

MOST_DOUBLINGS = 9  # 512 nodes


def scaling_sliders(training: Training, pack: Way, filesystem: ParallelFilesystem | None = None) -> Panel:
    """Return sliders for nodes, workers, epochs, load and latency, above the speed-up of the variants.

    Args:
        training: The training at the start.
        pack: The same samples, read from a packed file on the shared file system.
        filesystem: The file system at the start; by default one with the published figures.
    """
    start = filesystem or ParallelFilesystem()

    def draw(axes: Axes, doublings: int, workers: int, epochs: int, load: int, open_ms: float) -> str:
        client = replace(start.client, load=load / 100, open_ms=open_ms)
        system = replace(start, client=client)
        nodes = 2**doublings
        moved = variants(replace(training, workers=workers, epochs=epochs), pack)
        series = {name: scale(variant, system) for name, variant in moved.items()}
        draw_scaling(series, axes)
        axes.axvline(nodes, color=INK, linewidth=0.8)
        rows = []
        for name, points in series.items():
            point = points[doublings]
            rows.append(
                (
                    name,
                    f"{point.images_per_second:>11,.0f} images/s, {point.efficiency:4.0%} efficient, "
                    f"limited by {point.limit}; useful up to {useful_nodes(points).nodes} nodes",
                )
            )
        return f"{nodes} node{'s'[: nodes > 1]}\n" + named(rows)

    def frame(axes: Axes) -> None:
        frame_scaling(axes, assumptions=start.assumed_rates)  # a slider sets the load
        # Fixed, so that a curve that moves is seen to move.
        rate = scale(training, start)[0].images_per_second
        axes.set_ylim(rate / 30, rate * 2**MOST_DOUBLINGS * 3)

    sliders = {
        "doublings": Slider("nodes: 2 to the power of", 4, 0, MOST_DOUBLINGS),
        "workers": Slider("workers on each node", training.workers, 1, 32),
        "epochs": Slider("epochs", training.epochs, 1, 100),
        "load": Slider("taken by others (%)", round(100 * start.client.load), 0, 95),
        "open_ms": Slider("open (ms)", start.client.open_ms, 0.0, 5.0, 0.1),
    }
    return Panel(
        sliders,
        Drawing(
            draw,
            frame,
            size=(8.0, 3.6),
            axes=(0.14, 0.15, 0.61, 0.72),
            alt="Images per second over the number of nodes: a curve per variant, a line at these nodes.",
        ),
    )
