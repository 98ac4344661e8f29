from .clips import NoVideoError as NoVideoError
from .clips import pan as pan
from .clips import write_clip as write_clip
from .seeks import RECORDED_SEEKS as RECORDED_SEEKS
from .seeks import RECORDED_WITH as RECORDED_WITH
from .seeks import SeekCost as SeekCost
from .seeks import measure_seeks as measure_seeks
from .seeks import decoded_frames as decoded_frames
