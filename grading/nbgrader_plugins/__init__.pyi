from . import deadlines as deadlines
from . import feedback as feedback
from . import gradebook as gradebook
from . import marks_table as marks_table
from .release import generate_release as generate_release
