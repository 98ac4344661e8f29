from .measuring import LOG as LOG
from .measuring import measure as measure
from .measuring import read_log as read_log
from .versions import change as change
from .versions import source as source
from .versions import write as write
