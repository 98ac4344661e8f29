from .cell_selection import cells_to_run as cells_to_run
from .cell_selection import grade_id as grade_id
from .cell_selection import is_setup as is_setup
from .definitions import defined_names as defined_names
from .definitions import extract_definitions as extract_definitions
from .definitions import used_names as used_names
from .restore import Restored as Restored
from .restore import restore_notebook as restore_notebook
