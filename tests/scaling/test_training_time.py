"""Ways of reading on many nodes, and where more nodes stop helping."""

from dataclasses import replace

import matplotlib as mpl
import pytest

from course_utils.pipeline import StageTimes
from course_utils.scaling.parallel_fs import ParallelFilesystem
from course_utils.scaling.plots import plot_scaling, plot_ways
from course_utils.scaling.published import IMPORT_TORCH
from course_utils.scaling.training_time import NODES, Training, scale, useful_nodes, variants
from course_utils.scaling.ways import StagingCost, Way, reading_ways, start_ways
from course_utils.storage import FileOps

mpl.use("Agg")

SAMPLES = 1_281_167
FILES = FileOps(SAMPLES, SAMPLES, 3 * SAMPLES, 0, SAMPLES * 110_000)
PACK = FileOps(8, 8, SAMPLES, 0, SAMPLES * 110_000)
WAYS = {way.name: way for way in reading_ways(FILES, PACK)}
SYSTEM = ParallelFilesystem()
TIMES = StageTimes(decode=[1.1, 1.3], transfer=0.006, compute=0.1)
TRAINING = Training(TIMES, WAYS["everybody reads files"], SAMPLES, 256, workers=16, epochs=10)


def test_ways_are_named_and_a_copy_of_many_files_is_read_as_files():
    copies = {"files": StagingCost(FILES, creates=SAMPLES), "a pack": StagingCost.one_file(PACK.nbytes)}
    ways = {way.name: way for way in reading_ways(FILES, PACK, copies)}
    assert list(ways) == [
        "everybody reads files",
        "everybody reads a pack",
        "one reads and broadcasts",
        "staged once per node: files",
        "staged once per node: a pack",
    ]
    assert ways["staged once per node: files"].reads == FILES
    assert ways["staged once per node: a pack"].reads == PACK


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_more_nodes_never_read_an_epoch_more_slowly(way: Way):
    seconds = [way.epoch_seconds(SYSTEM, nodes, readers=8) for nodes in NODES]
    assert seconds == sorted(seconds, reverse=True)


@pytest.mark.parametrize("way", WAYS.values(), ids=list(WAYS))
def test_more_nodes_never_stage_or_start_faster(way: Way):
    """A start reads everything in every process; staging, in every node."""
    for measure in (way.stage_seconds, way.start_seconds):
        seconds = [measure(SYSTEM, nodes) for nodes in NODES]
        assert seconds == sorted(seconds)


def test_staging_is_paid_once_and_amortises_on_a_slow_file_system():
    files, staged = WAYS["everybody reads files"], WAYS["staged once per node: the packed file"]
    cheaper = [
        epochs
        for epochs in range(1, 20)
        if staged.total_seconds(SYSTEM, 1, epochs, 8) < files.total_seconds(SYSTEM, 1, epochs, 8)
    ]
    assert cheaper == list(range(cheaper[0], 20))
    assert staged.total_seconds(SYSTEM, 4, 3, 8) == pytest.approx(
        staged.stage_seconds(SYSTEM, 4) + 3 * staged.epoch_seconds(SYSTEM, 4, 8)
    )


def test_small_copies_cost_more_than_one_file_of_the_same_bytes():
    many = StagingCost(FileOps(13_019, 26_038, 26_038, 0, 1_793_000_000), creates=13_019)
    one = StagingCost.one_file(1_793_000_000)
    assert many.write_seconds == pytest.approx(2.03, abs=0.01)  # the published copy to NVMe
    by_cost = [Way("copy", FILES, cost).stage_seconds(SYSTEM, 16) for cost in (one, many)]
    assert by_cost[1] > 10 * by_cost[0]


def test_a_broadcast_reads_the_shared_file_system_once():
    once, everybody = (
        WAYS["one reads and broadcasts"],
        WAYS["staged once per node: the packed file"],
    )
    assert once.stage_seconds(SYSTEM, 1) == everybody.stage_seconds(SYSTEM, 1)
    assert once.stage_seconds(SYSTEM, 512) < everybody.stage_seconds(SYSTEM, 512)


def test_an_environment_on_the_shared_file_system_starts_slowest_on_many_nodes():
    seconds = {
        way.name: way.start_seconds(SYSTEM, 512, 4) for way in start_ways(IMPORT_TORCH, 13_019, 1_793_000_000)
    }
    assert max(seconds, key=seconds.get) == "its files copied to each node"
    assert seconds["environment on the shared file system"] > 5 * seconds["one image, broadcast"]


def test_stage_times_of_each_batch_count_by_their_mean():
    even = replace(TRAINING, times=replace(TIMES, decode=1.2))
    assert TRAINING.epoch_limits(SYSTEM, 4) == pytest.approx(even.epoch_limits(SYSTEM, 4))


def test_one_node_is_limited_by_its_workers_and_many_by_the_servers():
    points = scale(TRAINING)
    assert (points[0].limit, points[-1].limit) == ("workers", "metadata servers")
    assert (points[0].speed_up, points[0].efficiency) == (1, 1)
    assert useful_nodes(points).nodes < points[-1].nodes


def test_nodes_help_until_the_servers_limit_the_epoch():
    """Where two limits cross follows from the formula alone."""
    epoch = TRAINING.epoch_limits(SYSTEM, 1)
    crossing = epoch["workers"] / epoch["metadata servers"]
    assert crossing / 2 <= useful_nodes(scale(TRAINING)).nodes <= 2 * crossing


def test_packing_staging_cache_and_bytes_move_the_limit():
    named = variants(TRAINING, WAYS["everybody reads a pack"])
    assert list(named) == ["as it is", "half the bytes", "half of it cached", "packed", "packed and staged"]
    servers = {
        name: training.epoch_limits(SYSTEM, 512).get("metadata servers", 0.0)
        for name, training in named.items()
    }
    assert servers["half the bytes"] == servers["as it is"] == pytest.approx(SAMPLES / 144_000)
    assert servers["half of it cached"] == pytest.approx(servers["as it is"] / 2, rel=1e-5)
    assert servers["packed"] < servers["as it is"] / 1000
    assert servers["packed and staged"] == 0
    data = {name: one.epoch_limits(SYSTEM, 512).get("network link") for name, one in named.items()}
    assert data["half the bytes"] == pytest.approx(data["as it is"] / 2)


def test_the_start_grows_with_the_nodes_and_can_decide():
    environment = start_ways(IMPORT_TORCH, 13_019, 10**9)[0]
    points = scale(replace(TRAINING, environment=environment, processes=64, epochs=1))
    assert points[-1].limit == "start and staging"
    assert points[-1].once_seconds > points[0].once_seconds


@pytest.mark.parametrize(
    "wrong", [{"samples": 0}, {"workers": 0}, {"epochs": 0}, {"cached": 1.5}, {"cached": -0.1}]
)
def test_numbers_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        replace(TRAINING, **wrong)


def test_plots_have_units_and_say_that_they_show_a_model():
    ax = plot_ways(
        {name: lambda nodes, way=way: way.epoch_seconds(SYSTEM, nodes) for name, way in WAYS.items()},
        "one epoch",
    )
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("nodes", "one epoch (s)")
    assert "not a measurement" in ax.get_title(loc="left")
    assert len(ax.lines) == len(WAYS)
    ax = plot_scaling({"files": scale(TRAINING)})
    assert ax.get_ylabel() == "images/s, with start and staging"
    assert ax.get_title(loc="left").startswith("Model")
    mpl.pyplot.close("all")
