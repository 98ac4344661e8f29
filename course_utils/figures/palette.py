"""Okabe and Ito's colours, which people with a colour blindness can tell apart, too.

Source: M. Okabe and K. Ito, Color Universal Design, 2008.
"""

__all__ = ["BLUE", "GREEN", "INK", "ORANGE", "PURPLE", "RED", "SERIES", "SKY", "VIOLET", "YELLOW"]

BLUE, ORANGE, GREEN, RED = "#0072B2", "#E69F00", "#009E73", "#D55E00"
PURPLE, SKY, YELLOW = "#CC79A7", "#56B4E9", "#F0E442"
VIOLET = "#7818D8"  # not theirs: in the place of black, which is invisible on black
# In the order in which a plot takes them. Yellow is for areas, which have an outline, and not for lines.
SERIES = (BLUE, ORANGE, GREEN, RED, PURPLE, SKY, VIOLET)

# Its contrast is 4.5 to 1 with white, and 4.2 to 1 with the #111111 of JupyterLab's dark theme.
INK = "#767676"
