from .files import Submission as Submission
from .findings import OTHER_VERSION as OTHER_VERSION
from .findings import Finding as Finding
from .notebook_choice import STUB as STUB
from .sanitize import STAMP as STAMP
from .sanitize import sanitize_folder as sanitize_folder
