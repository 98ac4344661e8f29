"""The closed formula of the parallel file system: published arithmetic, one reader, and the simulation."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.scaling.parallel_fs import ParallelFilesystem
from course_utils.scaling.plots import plot_ways
from course_utils.scaling.published import IMPORT_TORCH, LUSTRE, NVME
from course_utils.scaling.queue_simulation import simulate_requests
from course_utils.storage import FIGURES, FileOps, SharedFilesystem

FILES = FileOps(opens=4, stats=4, reads=12, nbytes=4 * 110_000)  # three reads for each image
PACK = FileOps(opens=1, stats=1, reads=20, nbytes=20 * 110_000)
IMPORT = FileOps(opens=14, stats=23)
COPY = FileOps(opens=1, stats=1, reads=20, nbytes=20 * (4 << 20))
# The formula is the longest limit. The simulation takes longer: requests queue, and the slowest of many
# readers, whose requests take random times, ends after the mean one. In 3,000 draws it took up to 1.43 times
# the sum of the limits, and up to 1.79 times the longest one where no other is above a quarter of it.
ABOVE_SUM, ABOVE_LONGEST = 1.6, 2.0
LOWEST = 0.9  # a few requests may happen to be served faster than on average


def assert_near(system, work, nodes, readers, seed=0):
    work *= max(1, 128 // (nodes * readers))  # random times of a few requests are far from their mean
    simulated = simulate_requests(system, work, nodes, readers, seed)
    *others, longest = sorted(system.limits(work * (nodes * readers), nodes, readers).values())
    assert LOWEST * longest <= simulated <= ABOVE_SUM * (longest + sum(others))
    if longest >= 4 * others[-1]:
        assert simulated <= ABOVE_LONGEST * longest


def test_published_latencies_give_the_published_seconds_of_an_import():
    """The source adds opens and failed look-ups up itself: about 0.02 s and about 4.3 s."""
    assert NVME.seconds(IMPORT_TORCH) == pytest.approx(0.018, abs=0.001)
    assert replace(LUSTRE, size_ms=0).seconds(IMPORT_TORCH) == pytest.approx(4.27, abs=0.01)


def test_every_figure_has_a_source_and_a_date():
    for name, figure in FIGURES.items():
        assert figure.value > 0, name
        assert figure.source.startswith(("https://", "Dell")) == (figure.kind == "published"), name
        assert figure.date[-10:].startswith("2026-"), name


def test_a_model_names_its_assumptions():
    assert "144,000 opens/s (as frequent as removals)" in ParallelFilesystem().assumptions
    busy = ParallelFilesystem(replace(LUSTRE, load=0.8), opens_per_s=50_000)
    assert busy.assumptions == "assumed: 50,000 opens/s, 0.1 ms a read or size, load 80%"
    assert busy.assumptions in plot_ways({"a way": float}, "reading", filesystem=busy).get_title("left")


def test_one_reader_waits_as_long_as_the_model_of_a_shared_file_system_says():
    for work in (FILES, PACK, IMPORT):
        assert ParallelFilesystem().seconds(work) == LUSTRE.seconds(work)


@pytest.mark.parametrize(
    ("work", "nodes", "readers", "resource"),
    [
        (FILES, 1, 8, "waiting"),
        (FILES, 512, 8, "metadata servers"),
        (PACK, 512, 8, "data servers"),
        (COPY, 1, 16, "network link"),
    ],
)
def test_the_slowest_resource_decides(work, nodes, readers, resource):
    everything = work * (nodes * readers)
    system = ParallelFilesystem()
    assert system.bottleneck(everything, nodes, readers) == resource
    assert system.seconds(everything, nodes, readers) == max(
        system.limits(everything, nodes, readers).values()
    )


@pytest.mark.parametrize("work", [FILES, PACK, IMPORT, COPY])
@pytest.mark.parametrize(("nodes", "readers"), [(1, 1), (8, 2), (64, 4)])
def test_formula_is_near_the_simulation(work, nodes, readers):
    assert_near(ParallelFilesystem(), work, nodes, readers)


@pytest.mark.proof
@settings(max_examples=60)
@given(
    work=st.sampled_from([FILES, PACK, IMPORT, COPY]),
    nodes=st.sampled_from([1, 2, 4, 8, 16, 32, 64, 128, 256, 512]),
    readers=st.integers(1, 4),
    load=st.sampled_from([0.0, 0.5, 0.8]),
    opens_per_s=st.integers(20_000, 500_000),
    seed=st.integers(0, 2**31),
)
def test_formula_is_near_the_simulation_on_any_number_of_nodes(work, nodes, readers, load, opens_per_s, seed):
    system = ParallelFilesystem(client=replace(LUSTRE, load=load), opens_per_s=opens_per_s)
    assert_near(system, work, nodes, readers, seed)


def test_simulation_is_the_same_for_the_same_seed():
    runs = [simulate_requests(ParallelFilesystem(), FILES, 4, 2, seed) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_simulation_without_queues_takes_the_latency_of_each_request():
    """On average: the time of each service is random."""
    work = FileOps(opens=200, stats=300, reads=300, nbytes=300_000)
    assert simulate_requests(ParallelFilesystem(), work) == pytest.approx(LUSTRE.seconds(work), rel=0.05)


def test_a_server_slower_than_a_whole_request_is_refused():
    with pytest.raises(ValueError, match="idle server"):
        simulate_requests(ParallelFilesystem(opens_per_s=100), FILES)


def test_load_takes_the_same_part_of_every_server():
    idle, busy = (ParallelFilesystem(client=SharedFilesystem(load=load)) for load in (0.0, 0.5))
    for name, seconds in idle.limits(FILES, 4, 2).items():
        factor = 1 if name == "network link" else 2
        assert busy.limits(FILES, 4, 2)[name] == pytest.approx(factor * seconds)


def test_rates_must_be_positive():
    with pytest.raises(ValueError, match="positive"):
        ParallelFilesystem(opens_per_s=0)


@pytest.mark.parametrize(("nodes", "rounds"), [(1, 0), (2, 1), (3, 2), (4, 2), (5, 3), (512, 9)])
def test_a_broadcast_doubles_the_nodes_that_have_the_file_in_each_round(nodes, rounds):
    one_round = 1e9 / (ParallelFilesystem().link_gb_s * 1e9)
    assert ParallelFilesystem().broadcast_seconds(10**9, nodes) == pytest.approx(rounds * one_round)
