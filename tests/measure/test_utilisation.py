import matplotlib as mpl
import pynvml
import pytest
import torch
from matplotlib import pyplot as plt

from course_utils.measure import utilisation
from course_utils.measure.utilisation import Utilisation

mpl.use("Agg")


class FakeProcess:
    def __init__(self, pid, times, children=()):
        self.pid, self._times, self._children = pid, iter(times), children

    def cpu_times(self):
        return (next(self._times), 0.0, 99.0, 99.0)

    def children(self, recursive):
        return self._children


class FakeTime:
    def __init__(self, times):
        self._times = iter(times)

    def perf_counter(self):
        return next(self._times)


def test_cpu_time_is_in_percent_of_one_core_and_workers_are_apart(monkeypatch):
    workers = (FakeProcess(2, [5, 7]), FakeProcess(3, [1, 2]))
    monkeypatch.setattr(utilisation.psutil, "Process", lambda: FakeProcess(1, [10, 12], workers))
    monkeypatch.setattr(utilisation, "time", FakeTime([0, 0, 4]))
    assert utilisation.cpu_sampler()() == {"main process": 50.0, "workers": 75.0}


def test_samples_are_taken_during_the_block_and_plotted_with_units():
    with Utilisation("cpu", interval=0.001) as watch:
        while len(watch.samples) < 3:
            sum(range(1000))
    figure, axes = plt.subplots()
    watch.draw(axes)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time (s)", "CPU time (% of one core)")
    means = [f"{name}, mean {watch.mean(name):.0f} %" for name in ("main process", "workers")]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == means
    top = axes.collections[-1].get_paths()[0].vertices[:, 1].max()
    assert top == pytest.approx(max(sum(sample.values()) for _, sample in watch.samples))
    plt.close(figure)


def test_mean_is_that_of_one_series():
    watch = Utilisation("cpu")
    assert watch.mean("workers") == 0.0
    watch.samples = [
        (0.1, {"main process": 90.0, "workers": 10.0}),
        (0.2, {"main process": 70.0, "workers": 40.0}),
    ]
    assert (watch.mean("main process"), watch.mean("workers")) == (80.0, 25.0)


def test_cpu_time_replaces_a_gpu_without_nvml_support(monkeypatch):
    def unsupported(device):
        raise pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)

    monkeypatch.setattr(utilisation, "gpu_sampler", unsupported)
    watch = Utilisation("cuda")
    assert watch.unit == "CPU time (% of one core)"
    assert watch.source == "host CPU; the cuda device reports no utilisation"


def test_source_names_what_was_sampled(monkeypatch):
    monkeypatch.setattr(utilisation, "gpu_sampler", lambda device: dict)
    monkeypatch.setattr("torch.cuda.get_device_name", lambda device: "NVIDIA H100")
    assert Utilisation("cuda").source == "NVIDIA H100"
    assert Utilisation("mps").source == "host CPU; the mps device reports no utilisation"
    assert Utilisation("cpu").source == "host CPU"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA GPU")
def test_gpu_is_sampled_through_nvml():
    with Utilisation("cuda", interval=0.02) as watch:
        for _ in range(200):  # NVML reports the last sampling period, up to a second ago
            for _ in range(20):
                product = torch.ones(1000, 1000, device="cuda") @ torch.ones(1000, 1000, device="cuda")
            product.sum().item()
            if watch.samples and watch.samples[-1][1].get("GPU", 0) > 0:
                break
    if watch.unit != "GPU busy (%)":
        pytest.skip("NVML does not report the utilisation of this GPU, as for a part of one (MIG)")
    assert 0 < watch.mean("GPU") <= 100
