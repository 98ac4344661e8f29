"""One style for all figures of the course: transparent, and readable on white and on black."""

import matplotlib as mpl
from IPython import get_ipython
from IPython.core.pylabtools import select_figure_formats
from matplotlib.rcsetup import cycler
from matplotlib_inline.config import InlineBackend

from course_utils.figures.palette import INK, SERIES

__all__ = ["use_course_style"]


def use_course_style() -> None:
    """Draw figures from now on without a background, in `INK`, and with lines in the colours of `SERIES`."""
    mpl.rc("axes", edgecolor=INK, facecolor="none", labelcolor=INK, prop_cycle=cycler(color=SERIES))
    mpl.rc("legend", labelcolor=INK)
    # Outlines: orange and yellow have little contrast with white.
    mpl.rc("patch", edgecolor=INK, force_edgecolor=True)
    mpl.rc("text", color=INK)
    mpl.rc("xtick", color=INK)
    mpl.rc("ytick", color=INK)
    # Only the picture is transparent, and not the figure itself: JupyterLab puts a background behind a figure
    # that is transparent, white for dark labels and black for light ones.
    backend = InlineBackend.instance(parent=get_ipython())
    backend.print_figure_kwargs["facecolor"] = "none"
    if backend.shell:  # it runs already, and has read its settings
        select_figure_formats(backend.shell, backend.figure_formats, **backend.print_figure_kwargs)
