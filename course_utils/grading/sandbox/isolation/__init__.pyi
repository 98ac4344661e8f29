from . import backends as backends
from . import namespaces as namespaces
from .backends import NoSandboxError as NoSandboxError
from .backends import sandbox_command as sandbox_command
from .cgroups import create_group as create_group
from .limits import Limits as Limits
from .limits import apply_limits as apply_limits
