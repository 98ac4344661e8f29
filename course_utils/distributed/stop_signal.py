"""Notice the signal that Slurm sends before the time limit; imports nothing that takes time."""

import signal
from types import FrameType


class StopSignal:
    """Whether SIGUSR1 has arrived; from its creation on the signal no longer ends this process."""

    def __init__(self) -> None:
        self.arrived = False
        if hasattr(signal, "SIGUSR1"):
            signal.signal(signal.SIGUSR1, self._note)

    def _note(self, number: int, frame: FrameType | None) -> None:
        self.arrived = True

    def __call__(self) -> bool:
        """Return whether it has arrived."""
        return self.arrived
