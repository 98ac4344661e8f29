from .crops import Crop as Crop
from .crops import Resize as Resize
from .crops import ResizeCenterCrop as ResizeCenterCrop
from .cut import Cut as Cut
from .cut import CutOf as CutOf
from .cut import decode_cut_into as decode_cut_into
from .cut import resize_into as resize_into
from .random_crop import RandomResizedCrop as RandomResizedCrop
