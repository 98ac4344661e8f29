from .submission_files import HANDOUTS as HANDOUTS
from .submission_files import SubmissionFiles as SubmissionFiles
from .watched_folder import NotWatchedError as NotWatchedError
