"""Speed-up by `torch.compile` of lesson 03's network: `python -m tests.bench.compiled_model` (a minute)."""

import statistics
import time

import torch

from course_utils.pipeline import device_name
from course_utils.training import SimpleCNN

REPEATS = 15


def forward_times(network: torch.nn.Module, images: torch.Tensor) -> tuple[float, float, float]:
    """Return the lowest, median and highest milliseconds of a forward pass, including the device's work."""
    milliseconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        network(images).sum().item()
        milliseconds.append(1e3 * (time.perf_counter() - start))
    return min(milliseconds), statistics.median(milliseconds), max(milliseconds)


@torch.no_grad()
def main() -> None:
    """Print the compile time and the time of a forward pass, eager and compiled."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    torch.set_num_threads(1)
    model = SimpleCNN(1000, width=8).to(device)
    images = torch.zeros(32, 3, 128, 128, dtype=torch.uint8, device=device)
    compiled = torch.compile(model)
    start = time.perf_counter()
    compiled(images)
    print(
        f"{device_name(device)}, one thread, batches of 32: compiled in {time.perf_counter() - start:.0f} s"
    )
    for name, network in {"eager": model, "compiled": compiled}.items():
        low, median, high = forward_times(network, images)
        print(f"{name:9}{median:7.2f} ms a forward pass ({low:.2f} to {high:.2f})")


if __name__ == "__main__":
    main()
