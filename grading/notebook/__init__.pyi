from .cell_selection import cells_to_run as cells_to_run
from .cell_selection import grade_id as grade_id
from .cell_selection import is_setup as is_setup
from .release_version import state_version as state_version
from .restore import Restored as Restored
from .restore import restore_notebook as restore_notebook
