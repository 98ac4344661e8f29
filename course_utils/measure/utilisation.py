"""Sample how busy the device is while a training runs; measured afterwards, it would be idle."""

import threading
import time
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

import psutil
import pynvml
import torch
from matplotlib.axes import Axes

from course_utils.figures import GREEN, SKY

__all__ = ["Utilisation", "cpu_sampler", "gpu_sampler"]

COLOURS = (GREEN, SKY)
Sampler = Callable[[], dict[str, float]]


def gpu_sampler(device: torch.device) -> Sampler:
    """Return a function that asks NVML for the utilisation of a GPU.

    Returns:
        Called without arguments, it returns under "GPU" the percentage of the last sampling period in which a
        kernel ran.

    Raises:
        pynvml.NVMLError: The driver does not report it, for example for a part of a GPU (MIG).
    """
    pynvml.nvmlInit()
    uuid = f"GPU-{torch.cuda.get_device_properties(device).uuid}"
    handle = pynvml.nvmlDeviceGetHandleByUUID(uuid)
    pynvml.nvmlDeviceGetUtilizationRates(handle)  # raises here instead of in the sampling thread
    return lambda: {"GPU": float(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)}


def cpu_sampler() -> Sampler:
    """Return a function that measures the CPU time since its last call, in percent of one core.

    Returns:
        Called without arguments, it returns one number for the "main process" and one for all its children,
        the "workers".
    """
    process = psutil.Process()
    last: dict[int, float] = {}
    last_call = time.perf_counter()

    def cpu_seconds(one: psutil.Process) -> float:
        try:
            now = sum(one.cpu_times()[:2])
        except psutil.Error:  # a worker that has exited
            return 0.0
        before = last.get(one.pid, now)
        last[one.pid] = now
        return now - before

    def sample() -> dict[str, float]:
        nonlocal last_call
        start, last_call = last_call, time.perf_counter()
        workers = sum(cpu_seconds(child) for child in process.children(recursive=True))
        percent = 100 / max(last_call - start, 1e-9)
        return {"main process": percent * cpu_seconds(process), "workers": percent * workers}

    sample()
    return sample


def _sampler(device: torch.device) -> tuple[Sampler, str, str]:
    if device.type == "cuda":
        with suppress(pynvml.NVMLError):
            return gpu_sampler(device), "GPU busy (%)", torch.cuda.get_device_name(device)
    unknown = "" if device.type == "cpu" else f"; the {device.type} device reports no utilisation"
    return cpu_sampler(), "CPU time (% of one core)", f"host CPU{unknown}"


class Utilisation:
    """Sample how busy the device is, in a thread, while a `with` block runs.

    Args:
        device: a CUDA device is measured through NVML. For any other, and where NVML does not report it, the
            CPU time of this process and of its workers is measured; `unit` names the measure.
        interval: seconds between samples.

    Attributes:
        samples: pairs of seconds since the start of the block and the sample, a percentage by series.
        unit: what the percentages measure.

    Example:
        >>> with Utilisation("cpu") as utilisation:                  # doctest: +SKIP
        ...     train()
        >>> utilisation.mean("main process")                         # doctest: +SKIP
        97.3
    """

    def __init__(self, device: torch.device | str, interval: float = 0.1) -> None:
        self._sample, self.unit, self.source = _sampler(torch.device(device))
        self.interval = interval
        self.samples: list[tuple[float, dict[str, float]]] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Utilisation":
        self._start = time.perf_counter()
        self._sample()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self.interval):
            self.samples.append((time.perf_counter() - self._start, self._sample()))

    def mean(self, series: str) -> float:
        """Return the mean of one series in percent; 0 without samples."""
        values = [sample[series] for _, sample in self.samples]
        return sum(values) / len(values) if values else 0.0

    def draw(self, axes: Axes) -> None:
        """Plot the samples over time as areas, stacked if there are several series; the legend has means."""
        if self.samples:
            series = list(self.samples[0][1])
            seconds = [t for t, _ in self.samples]
            values = [[sample[name] for _, sample in self.samples] for name in series]
            labels = [f"{name}, mean {self.mean(name):.0f} %" for name in series]
            axes.stackplot(seconds, values, labels=labels, colors=COLOURS)
            axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=len(series), frameon=False)
        axes.set(xlabel="time (s)", ylabel=self.unit)
