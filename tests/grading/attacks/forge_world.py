"""Wrong answers that try to pass as right where the check watches behaviour through a world.

Each holds a wrong answer and code that forges what the answer did: it replaces the probe, answers in its place,
replays what it has seen, or attacks the handle.
"""

from dataclasses import dataclass

from grading.answers.bank import answer

# Finds the check module and its check; the student's process holds both.
FIND = """
import sys, threading, gc
from course_utils.checks.core.check import Check
from course_utils.checks import {lesson} as checks
check = checks.{check}
module = sys.modules["course_utils.checks.{lesson}.{check}"]

def replace_probe(probe):
    vars(check)["probe"] = probe  # the dataclass is frozen, its dictionary is not

"""


@dataclass(frozen=True)
class Forgery:
    """A wrong answer, and the code before it that forges the check.

    Attributes:
        check: The exercise.
        name: What is forged.
        code: Runs before the answer; `check`, `module` and `replace_probe` are there.
        wrong: The wrong answer, from the bank.
        mistakes: The names of mistakes that the judge may find.
        lesson: The lesson.
    """

    check: str
    name: str
    code: str
    wrong: str
    mistakes: tuple[str, ...]
    lesson: str

    def __str__(self) -> str:
        return f"{self.check}-{self.name}"

    @property
    def source(self) -> str:
        """The source of the answer's cell."""
        checks = self.lesson[3:]
        return (
            FIND.format(lesson=checks, check=self.check)
            + self.code
            + answer(checks, self.check, self.wrong).source
        )


def _forgeries(
    lesson: str, check: str, wrong: str, codes: dict[str, tuple[str, tuple[str, ...]]]
) -> list[Forgery]:
    return [Forgery(check, name, code, wrong, mistakes, lesson) for name, (code, mistakes) in codes.items()]


LAZY_DATASET = {
    "probe_replaced_by_evidence": (
        "replace_probe(lambda inputs, world, answer: {'lengths': [inputs['length']] * 6 + [0], 'loop': {'value': inputs['length']}})\n",
        ("no_evidence",),
    ),
    "values_made_up": (
        """
def probe(inputs, world, answer):
    while world.next_access() is not None:
        world.returned(7, "", "")
    return {"lengths": [inputs["length"]] * 6 + [0], "loop": {"value": inputs["length"]}}
replace_probe(probe)
""",
        ("wrong_samples",),
    ),
    "values_replayed": (
        """
def probe(inputs, world, answer):
    n = inputs["length"]
    items = {(d, i): world.item(d, i) for d in range(3) for i in range(n)}
    values = {place: world.transform(place[0], item) for place, item in items.items()}
    while (access := world.next_access()) is not None:
        d, i = access
        if not -n <= i < n:
            world.returned(None, "IndexError", "")
        elif d == 2:
            world.returned(items[d, i % n], "", "")
        else:
            world.returned(values[d, i % n] if d < 2 else world.transform(d, inputs["numbers"][i]), "", "")
    return {"lengths": [n] * 6 + [0], "loop": {"value": n}}
replace_probe(probe)
""",
        ("eager_transform",),
    ),
    "record_cleared_by_a_thread": (
        """
def clear():
    while True:
        for thing in gc.get_objects():
            if type(thing).__name__ in ("World", "Access"):
                vars(thing).clear()
threading.Thread(target=clear, daemon=True).start()
""",
        ("reads_everything",),
    ),
    "record_cleared_by_a_signal_handler": (
        """
import signal
def clear(*everything):
    for thing in gc.get_objects():
        if type(thing).__name__ in ("World", "Access", "Handle"):
            for value in vars(thing).values():
                if isinstance(value, (list, dict)):
                    value.clear()
    signal.alarm(1)
signal.signal(signal.SIGALRM, clear)
signal.setitimer(signal.ITIMER_REAL, 0.01)
""",
        ("reads_everything",),
    ),
    "flood_of_calls": (
        """
from course_utils.checks.world.handle import Handle
honest = Handle.call
def call(handle, method, *arguments):
    for _ in range(10**7):
        honest(handle, "item", 0, 0)
Handle.call = call
""",
        ("too_many_operations",),
    ),
    "flood_of_connections": (
        """
import socket
def probe(inputs, world, answer):
    held = []
    for number in range(100_000):
        one = socket.socket(socket.AF_UNIX)
        one.connect(world._address)
        one.sendall(bytes(range(256)) * (number % 3))
        held = held[-500:] + [one]
replace_probe(probe)
""",
        ("too_many_operations",),
    ),
    "record_taken_back": (
        """
import signal
from course_utils.checks.world.handle import Handle
honest = Handle.call
def call(handle, method, *arguments):
    if method == "next_access":
        for name in ("__init__", "accesses", "creation", "_now", "clear"):
            try:
                honest(handle, name)
            except RuntimeError:
                pass
    return honest(handle, method, *arguments)
Handle.call = call
""",
        ("reads_everything",),
    ),
    "world_replaced": (
        "module.World = lambda truth: None\nvars(check)['world'] = None\nvars(check)['judge'] = lambda *a: 'right'\n",
        ("reads_everything",),
    ),
}

HONEST_TIMER = {
    "times_made_up": (
        """
def probe(inputs, world, answer):
    for number, epochs in enumerate(inputs["epochs"], start=1):
        machine = world.part(number)
        for _ in range(epochs):
            epoch = machine.start_epoch()
            while (batch := machine.load(epoch)) is not None:
                machine.step(batch)
    return [{"seconds": 0.008, "kind": "float"}] * len(inputs["epochs"])
replace_probe(probe)
""",
        ("wrong_time", "own_clock"),
    ),
    "truth_read_from_the_machine": (
        """
def probe(inputs, world, answer):
    found = []
    for number, epochs in enumerate(inputs["epochs"], start=1):
        machine = world.part(number)
        for _ in range(epochs):
            epoch = machine.start_epoch()
            while (batch := machine.load(epoch)) is not None:
                machine.step(batch)
        for name in ("_load", "_compute", "now", "log", "value", "kernel", "run_host", "__dict__", "truth"):
            try:
                found.append(machine.call(name))
            except RuntimeError:
                pass
    assert not found
    return [{"seconds": 0.008, "kind": "float"}] * len(inputs["epochs"])
replace_probe(probe)
""",
        ("wrong_time", "own_clock"),
    ),
    "clock_and_device_patched": (
        """
from course_utils.fakes.engine import GpuEngine
from course_utils.fakes.scripted_machine import MachineEngine
GpuEngine.run_host = lambda engine, seconds: None
GpuEngine.kernel = lambda engine, seconds, tensors=(): None
MachineEngine.clock = lambda engine: 0.0
""",
        ("synchronises_every_step",),
    ),
}

PREFETCHER = {
    "nothing_trained": (
        "replace_probe(lambda inputs, world, answer: {})\n",
        ("other_batches", "no_evidence"),
    ),
    "copies_that_cost_nothing": (
        """
from course_utils.fakes.engine import GpuEngine
for thing in gc.get_objects():
    if isinstance(thing, GpuEngine):
        thing.copy_seconds = 0.0
GpuEngine.copy = lambda engine, host, non_blocking: 0
GpuEngine._block_host = lambda engine, until: None
""",
        ("no_side_stream",),
    ),
    "races_and_waits_cleared": (
        """
from course_utils.fakes.cuda import FakeCuda
honest = FakeCuda.call
def call(gpu, operation, *arguments):
    for name, more in (("now", ()), ("races", ()), ("run_host", (-100.0,)), ("kernel", (0.0, [])), ("__init__", ({},))):
        try:
            gpu._engine.call(name, *more)
        except RuntimeError:
            pass
    return honest(gpu, operation, *arguments)
FakeCuda.call = call
""",
        ("no_side_stream",),
    ),
    "batches_made_up": (
        """
def probe(inputs, world, answer):
    for number in range(1, 1 + inputs["epochs"]):
        gpu = world.part(number)
        hosts = []
        while (tensors := gpu.load()) is not None:
            hosts.append(tensors)
        for tensors in hosts:
            gpu.train([gpu.copy(hosts[0][0], True) for _ in tensors])
        gpu.finish()
    return {}
replace_probe(probe)
""",
        ("other_batches", "no_evidence"),
    ),
    "batches_not_copied": (
        """
from course_utils.fakes.cuda import DeviceBatch, HostBatch
HostBatch.to = lambda host, *args, **kwargs: DeviceBatch(host._gpu, host.number)
""",
        ("crash", "other_batches"),
    ),
}

REPRODUCIBLE_LOADER = {
    "epochs_made_up": (
        """
def probe(inputs, world, answer):
    for run, plan in enumerate(module.RUNS):
        world.start_run()
        for epoch in range(plan.epochs):
            world.start_epoch(run)
            world.batch(run, [float(n) for n in range(inputs["length"])], 0.5)
    return {"runs": len(module.RUNS), "kinds": ["Tensor"]}
replace_probe(probe)
""",
        ("other_samples",),
    ),
    "epochs_replayed": (
        """
def probe(inputs, world, answer):
    size, n = inputs["batch_size"], inputs["length"]
    epochs = [[world.load(0, i, i / n + e / 3) for i in range(n)[::-1]] for e in range(3)]
    for run, plan in enumerate(module.RUNS):
        world.start_run()
        for tickets in epochs[: plan.epochs]:
            world.start_epoch(run)
            for start in range(0, n, size):
                world.batch(run, tickets[start : start + size], gc.get_count()[0] / 7)
    return {"runs": len(module.RUNS), "kinds": ["Tensor"]}
replace_probe(probe)
""",
        ("other_dataset",),
    ),
    "noise_replaced_on_its_way": (
        """
import random
from course_utils.checks.world.handle import Handle
honest = Handle.call
def call(handle, method, *arguments):
    if method == "load":
        arguments = *arguments[:2], random.Random(arguments[1]).random()
    return honest(handle, method, *arguments)
Handle.call = call
""",
        ("same_noise_every_epoch",),
    ),
    "tickets_of_the_first_epoch_kept": (
        """
from course_utils.checks.world.handle import Handle
honest, kept = Handle.call, {}
def call(handle, method, *arguments):
    if method == "batch":
        return honest(handle, method, *kept.setdefault(len(kept), arguments))
    if method == "start_epoch" and len(kept) > 8:
        kept.clear()
    return honest(handle, method, *arguments)
Handle.call = call
""",
        ("noise_not_reproducible", "repeats_loaded_samples", "other_dataset"),
    ),
}

COLD_AND_WARM = {
    "result_made_up": (
        """
def probe(inputs, world, answer):
    found = []
    for number, settings in enumerate(inputs["settings"]):
        world.start()
        for epoch in range(4):
            world.evict()
            for index in range(settings["images"]):
                world.read(number, index)
        rate = settings["images"] / 0.1
        epochs = [{"number": n, "seconds": 0.1, "first": 0.01, "images": settings["images"]} for n in range(4)]
        found.append({"value": {"epochs": epochs, "cold": rate, "warm": rate, **settings}})
    return found
replace_probe(probe)
""",
        ("not_from_benchmark",),
    ),
    "result_made_faster": (
        """
from course_utils.measure import results
made = results.Epoch.__init__
def init(epoch, number, seconds, *more, **named):
    made(epoch, number, seconds / 2, *more, **named)
results.Epoch.__init__ = init
""",
        ("not_from_benchmark",),
    ),
    "settings_made_up": (
        """
from course_utils.measure import results
measured = benchmark
def benchmark(dataset, *more, batch_size, num_workers, **named):
    named["cold_start"] = True
    result = measured(dataset, *more, batch_size=batch_size, num_workers=0, **named)
    object.__setattr__(result, "num_workers", num_workers)
    return result
""",
        ("other_settings",),
    ),
    "clock_stopped": (
        """
from course_utils.checks.world.handle import Handle
honest = Handle.call
Handle.call = lambda handle, method, *more: 1.0 if method == "clock" else honest(handle, method, *more)
""",
        ("not_from_benchmark", "crash"),
    ),
    "evicted_afterwards": (
        """
from course_utils.storage import page_cache
measured = benchmark
def benchmark(dataset, *more, **named):
    result = measured(dataset, *more, **named)
    page_cache.evict(dataset.path)
    return result
""",
        ("no_cold_start",),
    ),
    "reads_made_up": (
        """
from course_utils.checks.world.handle import Handle
honest = Handle.call
def call(handle, method, *more):
    found = honest(handle, method, *more)
    if method == "read":
        honest(handle, method, *more)
    return found
Handle.call = call
""",
        ("not_all_images",),
    ),
}

FORGERIES = [
    *_forgeries("00_input_pipeline", "lazy_dataset", "wrong_copies_the_items", LAZY_DATASET),
    *_forgeries("00_input_pipeline", "reproducible_loader", "wrong_generator_only", REPRODUCIBLE_LOADER),
    *_forgeries("01_jpeg_vs_zip", "cold_and_warm", "wrong_no_cold_start", COLD_AND_WARM),
    *_forgeries("03_gpu_pipelining", "honest_timer", "wrong_synchronises_every_step", HONEST_TIMER),
    *_forgeries("03_gpu_pipelining", "prefetcher", "wrong_no_side_stream", PREFETCHER),
]
