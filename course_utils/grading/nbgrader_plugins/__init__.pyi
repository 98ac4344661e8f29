from . import feedback as feedback
from . import gradebook as gradebook
from . import release as release
from .release import lessons as lessons
