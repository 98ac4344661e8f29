from .batch_transforms import FlipAndNormalize as FlipAndNormalize
from .dataloader import dataloader_kwargs as dataloader_kwargs
from .dataloader import make_loader as make_loader
from .fast_loader import FastLoader as FastLoader
from .loader_state import LoaderState as LoaderState
from .sampler import EpochOrder as EpochOrder
