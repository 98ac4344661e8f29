from . import local as local
from . import regrade as regrade
from . import report as report
from . import slurm as slurm
from .bounded import Bounds as Bounds
from .bounded import Exceeded as Exceeded
from .bounded import run_bounded as run_bounded
from .local import up_to_date_result as up_to_date_result
