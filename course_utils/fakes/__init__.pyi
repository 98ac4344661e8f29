from .cuda import DeviceBatch as DeviceBatch
from .cuda import FakeCuda as FakeCuda
from .cuda import HostBatch as HostBatch
from .engine import FOR_USERS as FOR_USERS
from .engine import GpuEngine as GpuEngine
from .scripted_machine import LAUNCH_SECONDS as LAUNCH_SECONDS
from .scripted_machine import MachineEngine as MachineEngine
from .scripted_machine import ScriptedMachine as ScriptedMachine
