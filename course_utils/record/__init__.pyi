from .schema import NOBODY as NOBODY
from .schema import Record as Record
from .schema import faults as faults
from .shown import mark as mark
from .shown import recorded as recorded
from .shown import table as table
