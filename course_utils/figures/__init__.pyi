from .style import INK as INK
from .style import use_course_style as use_course_style
