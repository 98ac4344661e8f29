from . import deploy as deploy
from . import templates as templates
