"""Report once before the process ends: by `atexit`, by the default action of SIGTERM, by `os._exit`."""

import _thread
import atexit
import contextlib
import ctypes
import os
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType

Handler = Callable[[int, FrameType | None], object] | int | signal.Handlers | None
GRACE, LIMIT = 1.0, 5.0  # seconds: until the main thread must handle the signal, and for the report
STOP = b"\0"  # no signal has this number


class Exits:
    """Calls a function once, before this process ends; not in its children.

    SIGTERM is handled where the script leaves it to the default action, and the script sees SIG_DFL there.
    A thread reads the numbers of signals, for a main thread that does not return from C; it ends before each
    fork.

    Args:
        report: It is told whether somebody waits for the end of the process.
    """

    def __init__(self, report: Callable[[bool], None]) -> None:
        self.report, self.owner = report, os.getpid()
        self.reporting, self.stopped = _thread.allocate_lock(), _thread.allocate_lock()
        self.reporter = 0
        self.masks = threading.local()
        self.set, self.get, self.leave = signal.signal, signal.getsignal, os._exit

    def install(self) -> None:
        """Take the place of the default action; that of process 1 does nothing, and stays."""
        atexit.register(self.end)
        os._exit = self._leave  # type: ignore[assignment]
        if self.owner == 1:
            return
        signal.signal = self._set  # type: ignore[assignment]
        signal.getsignal = self._get  # type: ignore[assignment]
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.writer, False)
        signal.set_wakeup_fd(self.writer, warn_on_full_buffer=False)
        if self._get(signal.SIGTERM) == signal.SIG_DFL:
            self.set(signal.SIGTERM, self._handle)
        os.register_at_fork(
            before=self._before_fork, after_in_parent=self._after_fork, after_in_child=self._forget
        )
        self._watch()

    def end(self, in_a_hurry: bool = False) -> None:
        """Report, if nobody has."""
        if os.getpid() == self.owner and self.reporting.acquire(blocking=False):
            self.reporter = _thread.get_ident()
            self.report(in_a_hurry)

    def _set(self, number: int, handler: Handler) -> Handler:
        ours = number == signal.SIGTERM and handler == signal.SIG_DFL and os.getpid() == self.owner
        return self._shown(self.set(number, self._handle if ours else handler))

    def _get(self, number: int) -> Handler:
        return self._shown(self.get(number))

    def _shown(self, handler: Handler) -> Handler:
        return signal.SIG_DFL if handler == self._handle else handler

    def _leave(self, status: int) -> None:
        self.end(in_a_hurry=True)
        self.leave(status)

    def _handle(self, _number: int, _frame: FrameType | None) -> None:
        """Report, and die; a signal while this thread reports changes nothing: `timeout` sends two."""
        if os.getpid() != self.owner:
            self._die()
        if self.reporter == _thread.get_ident():
            return
        self.end(in_a_hurry=True)
        if self.reporter != _thread.get_ident():
            time.sleep(LIMIT)  # another thread reports
        self._die()

    def _die(self) -> None:
        """End as without us; `signal.signal` would work in the main thread only."""
        libc = ctypes.CDLL(None)
        libc.signal.argtypes = (ctypes.c_int, ctypes.c_void_p)
        libc.signal(int(signal.SIGTERM), None)
        os.kill(os.getpid(), signal.SIGTERM)
        self.leave(128 + signal.SIGTERM)

    def _watch(self) -> None:
        if os.getpid() == self.owner and self.stopped.acquire(blocking=False):
            _thread.start_new_thread(self._await_signals, ())

    def _await_signals(self) -> None:
        try:
            while (number := os.read(self.reader, 1)) not in (STOP, b""):
                if number[0] == signal.SIGTERM and self.get(signal.SIGTERM) == self._handle:
                    time.sleep(GRACE)
                    if not self.reporter:
                        self._handle(signal.SIGTERM, None)
                    time.sleep(LIMIT)
                    self._die()
        finally:
            self.stopped.release()

    def _stop_watching(self) -> None:
        if os.getpid() == self.owner and self.stopped.locked():
            with contextlib.suppress(OSError):
                os.write(self.writer, STOP)
            if self.stopped.acquire(timeout=GRACE / 10):  # not if two threads fork at once
                self.stopped.release()

    def _forget(self) -> None:
        """A forked process ends as without us."""
        if (writer := signal.set_wakeup_fd(-1)) != self.writer:
            signal.set_wakeup_fd(writer)
        if self.get(signal.SIGTERM) == self._handle:
            self.set(signal.SIGTERM, signal.SIG_DFL)
        self._unblock()

    def _before_fork(self) -> None:
        """Block the signal: Python would drop one that reaches a child before it has forgotten us."""
        self.masks.before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
        self._stop_watching()

    def _after_fork(self) -> None:
        self._watch()
        self._unblock()

    def _unblock(self) -> None:
        signal.pthread_sigmask(signal.SIG_SETMASK, self.masks.before)
