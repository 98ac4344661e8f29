from .panel import Drawing as Drawing
from .panel import Panel as Panel
from .panel import Slider as Slider
from .pipeline_model import pipeline_sliders as pipeline_sliders
from .scaling_model import scaling_sliders as scaling_sliders
from .shared_fs_model import shared_fs_sliders as shared_fs_sliders
