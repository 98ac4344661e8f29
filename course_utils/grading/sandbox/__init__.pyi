from . import backends as backends
from .client import GraderFaultError as GraderFaultError
from .client import Handout as Handout
from .client import PRELOADED_MODULES as PRELOADED_MODULES
from .client import Reply as Reply
from .client import Sandbox as Sandbox
from .client import Step as Step
from .limits import Limits as Limits
