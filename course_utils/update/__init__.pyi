from .merge import NotANotebookError as NotANotebookError
from .merge import merge_notebooks as merge_notebooks
from .merge import read_notebook as read_notebook
from .repository import Update as Update
from .repository import UpdateError as UpdateError
from .repository import merge_driver as merge_driver
from .repository import update_clone as update_clone
