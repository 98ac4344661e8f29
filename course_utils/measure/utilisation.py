"""How busy the device is while a training runs: sampled during the run, for afterwards it is idle."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

import psutil
import pynvml
import torch
from matplotlib.axes import Axes

Sampler = Callable[[], dict[str, float]]


def gpu_sampler(device: torch.device) -> Sampler:
    """A function that asks NVML for the percentage of the last moments in which a kernel ran on the GPU.

    Raises:
        pynvml.NVMLError: The driver does not tell, as for a part of a GPU.
    """
    pynvml.nvmlInit()
    uuid = f"GPU-{torch.cuda.get_device_properties(device).uuid}"
    handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
    pynvml.nvmlDeviceGetUtilizationRates(
        handle
    )  # a part of a GPU (MIG) refuses: better now than in the thread
    return lambda: {"GPU": float(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)}


def cpu_sampler() -> Sampler:
    """A function that gives the CPU time since its last call, in percent of one core.

    Returns:
        It returns two numbers: of the "main process", and of its children, the "workers", together.
    """
    process = psutil.Process()
    last: dict[int, float] = {}
    asked = time.perf_counter()

    def spent(one: psutil.Process) -> float:
        try:
            now = sum(one.cpu_times()[:2])
        except psutil.Error:  # a worker that ended meanwhile
            return 0.0
        before = last.get(one.pid, now)
        last[one.pid] = now
        return now - before

    def sample() -> dict[str, float]:
        nonlocal asked
        since, asked = asked, time.perf_counter()
        workers = sum(spent(child) for child in process.children(recursive=True))
        percent = 100 / max(asked - since, 1e-9)
        return {"main process": percent * spent(process), "workers": percent * workers}

    sample()
    return sample


def _sampler(device: torch.device) -> tuple[Sampler, str]:
    if device.type == "cuda":
        with suppress(pynvml.NVMLError):
            return gpu_sampler(device), "GPU busy (%)"
    return cpu_sampler(), "CPU time (% of one core)"


class Utilisation:
    """Samples how busy the device is, in a thread, while a `with` block runs.

    Args:
        device: A CUDA device is asked through NVML. For any other, and where NVML does not tell, the CPU time
            of this process and of its workers is taken; `unit` says which.
        interval: Seconds between samples.

    Example:
        >>> with Utilisation("cpu") as watch:                        # doctest: +SKIP
        ...     train()
        >>> watch.mean("main process")                               # doctest: +SKIP
        97.3
    """

    def __init__(self, device: torch.device | str, interval: float = 0.1) -> None:
        self._sample, self.unit = _sampler(torch.device(device))
        self.interval = interval
        self.samples: list[tuple[float, dict[str, float]]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> "Utilisation":
        self._started = time.perf_counter()
        self._sample()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._stop.wait(self.interval):
            self.samples.append((time.perf_counter() - self._started, self._sample()))

    def mean(self, what: str) -> float:
        """Mean of one series over the samples, in percent."""
        values = [sample[what] for _, sample in self.samples]
        return sum(values) / len(values) if values else 0.0

    def draw(self, axes: Axes) -> None:
        """Draw the samples over time, one line for each series."""
        for what in self.samples[0][1] if self.samples else ():
            seconds = [t for t, _ in self.samples]
            axes.plot(seconds, [s[what] for _, s in self.samples], marker=".", label=what)
        axes.set(xlabel="time (s)", ylabel=self.unit, ylim=(0, None))
        axes.legend()
