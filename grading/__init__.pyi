from . import cli as cli
from . import workflow as workflow
