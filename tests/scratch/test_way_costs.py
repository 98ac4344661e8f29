import pytest

from course_utils.scratch import count_ways

COUNT, SIZE = 30, 2000


@pytest.fixture(scope="module")
def costs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("costs")
    tree = folder / "tree"
    for number in range(COUNT):
        (tree / str(number % 3)).mkdir(parents=True, exist_ok=True)
        (tree / str(number % 3) / f"{number}.bin").write_bytes(bytes(SIZE))
    (folder / "scratch").mkdir()
    found = {cost.way: cost for cost in count_ways(tree, folder / "scratch")}
    assert not list((folder / "scratch").iterdir())
    return found


def test_each_small_file_is_an_open(costs):
    files = costs["file by file"]
    assert (files.source.opens, files.source.nbytes) == (COUNT, COUNT * SIZE)
    assert (files.created, files.written) == (COUNT, COUNT * SIZE)


def test_a_packed_file_is_one_open(costs):
    for way, created in {"one tar, copied as it is": 1, "one tar, unpacked on the node": COUNT}.items():
        assert costs[way].source.opens == 1
        assert costs[way].source.stats <= 2
        assert costs[way].created == created


def test_what_cannot_be_counted_says_why(costs):
    for cost in costs.values():
        assert cost.source is not None or cost.note
