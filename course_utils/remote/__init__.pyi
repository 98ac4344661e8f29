from .cached_reader import CachedReader as CachedReader
from .faults import Fault as Fault
from .merged_ranges import Coalesced as Coalesced
from .merged_ranges import coalesce as coalesce
from .object_server import ObjectServer as ObjectServer
from .object_server import Requests as Requests
from .range_reader import RangeReader as RangeReader
from .remote_zip import RemoteZip as RemoteZip
