"""The page and the figure of the benchmark of `train.py`."""

from tests.bench.train_versions.figure import draw as draw
from tests.bench.train_versions.page import GIVEN as GIVEN
from tests.bench.train_versions.page import page as page
