"""A panel of sliders above the numbers and the plot that they change.

In JupyterLab, and in other front ends with a user, it is a widget. Where nobody can move a slider
(`nbconvert`, `nbval`, the pages of a book), it is the numbers and the picture of the values at the start: no
state of a widget is saved in a notebook.

Redrawing takes less than 100 ms on one core (`python -m tests.bench.sliders`), so it draws into one figure
whose layout is fixed.
"""

import base64
import html
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import ipywidgets
import numpy as np
from IPython import get_ipython
from IPython.display import display
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from PIL import Image

__all__ = ["Drawing", "Panel", "Slider"]

WIDGET = "application/vnd.jupyter.widget-view+json"
Place: TypeAlias = tuple[float, float, float, float]


@dataclass(frozen=True)
class Slider:
    """A number that can be moved, or a switch if its value is true or false.

    Args:
        label: Name and unit.
        value: Where it starts.
        low: Smallest number.
        high: Largest number.
        step: Of one press of an arrow key; whole numbers make a slider of whole numbers.
    """

    label: str
    value: float
    low: float = 0
    high: float = 1
    step: float = 1

    def widget(self) -> ipywidgets.ValueWidget:
        """Return a new widget."""
        style = {"description_width": "16em"}
        layout = ipywidgets.Layout(width="34em")
        if isinstance(self.value, bool):
            return ipywidgets.Checkbox(self.value, description=self.label, style=style, layout=layout)
        whole = all(isinstance(number, int) for number in (self.value, self.low, self.high, self.step))
        kind = ipywidgets.IntSlider if whole else ipywidgets.FloatSlider
        return kind(
            self.value,
            min=self.low,
            max=self.high,
            step=self.step,
            description=self.label,
            style=style,
            layout=layout,
            **({} if whole else {"readout_format": ".1f"}),
        )


@dataclass(frozen=True)
class Drawing:
    """How to draw the values of the sliders.

    Args:
        draw: Called with axes without artists and the values by the names of the sliders; returns the numbers
            to print below the sliders.
        frame: Called once with the axes: scales, limits and labels that do not change.
        size: Inches of the figure.
        axes: Left, bottom, width and height of the axes in it (0 to 1).
        alt: What the picture shows, for those who cannot see it.
    """

    draw: Callable[..., str]
    frame: Callable[[Axes], object]
    size: tuple[float, float]
    axes: Place
    alt: str


class Panel:
    """Sliders, the numbers that follow from them, and a plot.

    Args:
        sliders: The sliders by the names of the arguments of `drawing.draw`.
        drawing: What follows from their values.

    Attributes:
        controls: The widgets by name; none before `widget` is called, because a widget registers with the
            notebook when it is made, and would be saved with it.
        text: The numbers that are shown.
    """

    def __init__(self, sliders: dict[str, Slider], drawing: Drawing) -> None:
        self._sliders, self._drawing = sliders, drawing
        self._values = {name: slider.value for name, slider in sliders.items()}
        figure = Figure(figsize=drawing.size, facecolor="none")
        self._canvas = FigureCanvasAgg(figure)
        self._axes: Axes = figure.add_axes(drawing.axes)
        drawing.frame(self._axes)
        self._frame = self._axes.get_children()
        self.controls: dict[str, ipywidgets.ValueWidget] = {}
        self.text = ""

    def redraw(self) -> str:
        """Draw the present values; return the picture as PNG in base64."""
        self._remove_artists()
        self.text = self._drawing.draw(self._axes, **self._values)
        return self._png()

    def widget(self) -> ipywidgets.VBox:
        """Return the sliders, the numbers and the plot as a new widget."""
        shown = ipywidgets.HTML()

        def show(_: object = None) -> None:
            self._values = {name: control.value for name, control in self.controls.items()}
            shown.value = _html(self.redraw(), self.text, self._drawing.alt)

        self.controls = {name: slider.widget() for name, slider in self._sliders.items()}
        for control in self.controls.values():
            control.observe(show, names="value")
        show()
        return ipywidgets.VBox([*self.controls.values(), shown])

    def _remove_artists(self) -> None:
        """Empty the axes, and keep their frame: making ticks anew takes a third of the time."""
        for artist in self._axes.get_children():
            if artist not in self._frame:
                artist.remove()
        self._axes.containers.clear()
        self._axes.relim()

    def _png(self) -> str:
        self._canvas.draw()
        file = io.BytesIO()
        # Compressing it well takes too long.
        Image.fromarray(np.asarray(self._canvas.buffer_rgba())).save(file, "png", compress_level=1)
        return base64.b64encode(file.getvalue()).decode()

    def _ipython_display_(self) -> None:
        if front_end_has_user():
            view = self.widget()._repr_mimebundle_() or {}
            # For viewers of the saved notebook that know no widgets.
            stand_in = {"image/png": self._png(), "text/plain": self.text}
            display({WIDGET: view[WIDGET], **stand_in}, raw=True)
        else:
            picture = self.redraw()
            display({"text/plain": self.text}, raw=True)
            display({"image/png": picture, "text/plain": f"<picture: {self._drawing.alt}>"}, raw=True)


def _html(picture: str, text: str, alt: str) -> str:
    return (
        f'<pre aria-live="polite">{html.escape(text)}</pre>'
        f'<img style="max-width: 100%" alt="{html.escape(alt)}" src="data:image/png;base64,{picture}">'
    )


def front_end_has_user() -> bool:
    """Return whether whoever asked for the running cell could also answer `input()`: a person can."""
    shell: Any = get_ipython()
    parent = shell.get_parent() if hasattr(shell, "get_parent") else {}
    return bool(parent.get("content", {}).get("allow_stdin"))


def named(values: Sequence[tuple[str, str]]) -> str:
    """Return lines of names and values, the values below each other."""
    width = max(len(name) for name, _ in values)
    return "\n".join(f"{name:{width}} {value}" for name, value in values)
