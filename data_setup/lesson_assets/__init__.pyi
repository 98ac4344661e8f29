from .drawings import make_drawings as make_drawings
from .tiny_set import make_tiny_set as make_tiny_set
