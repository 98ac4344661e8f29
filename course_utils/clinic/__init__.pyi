from .ward import NAMES as NAMES
from .ward import Feedback as Feedback
from .ward import Patient as Patient
from .ward import name as name
from .ward import path as path
from .ward import patients as patients
from .ward import show as show
