from . import backends as backends
from .client import GraderFaultError as GraderFaultError
from .client import PRELOADED_MODULES as PRELOADED_MODULES
from .client import Sandbox as Sandbox
from .limits import Limits as Limits
from .steps import Handout as Handout
from .steps import Reply as Reply
from .steps import Step as Step
