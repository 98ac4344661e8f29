from .cell_selection import cells_to_run as cells_to_run
from .cell_selection import is_setup as is_setup
from .files import Submission as Submission
from .findings import Finding as Finding
from .restore import Restored as Restored
from .restore import grade_id as grade_id
from .restore import restore_notebook as restore_notebook
from .sanitize import sanitize_folder as sanitize_folder
