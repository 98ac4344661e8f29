from .cuda import DeviceBatch as DeviceBatch
from .cuda import FakeCuda as FakeCuda
from .cuda import HostBatch as HostBatch
from .scripted_machine import LAUNCH as LAUNCH
from .scripted_machine import ScriptedMachine as ScriptedMachine
