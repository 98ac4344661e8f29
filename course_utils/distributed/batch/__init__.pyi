from .job_script import JobScript as JobScript
from .local_slurm import JobRun as JobRun
from .local_slurm import run_without_slurm as run_without_slurm
from .presets import PRESETS as PRESETS
from .presets import Preset as Preset
