from . import local as local
from . import regrade as regrade
from . import report as report
from . import slurm as slurm
from .local import up_to_date_result as up_to_date_result
