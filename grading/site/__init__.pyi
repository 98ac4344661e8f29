from . import deploy as deploy
