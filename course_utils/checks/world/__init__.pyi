from .handle import Handle as Handle
from .handle import WorldError as WorldError
from .server import WorldServer as WorldServer
from .server import open_world as open_world
from .state import BaseWorld as BaseWorld
from .state import Oracle as Oracle
from .state import Part as Part
from .state import served as served
