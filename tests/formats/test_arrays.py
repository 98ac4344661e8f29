"""Every format for one long array returns the slices that were written."""

import importlib
import pickle
from contextlib import closing

import numpy as np
import pytest

from course_utils.data import PackError
from course_utils.formats import find_arrays
from course_utils.formats.registry import ARRAYS

FOUND = {kind.__name__: kind for kind in find_arrays()}
KINDS = [
    pytest.param(
        FOUND.get(name),
        marks=[] if name in FOUND else [pytest.mark.skip(f"the library of {name} is not installed")],
        id=name,
    )
    for _, name in ARRAYS
]
VALUES = np.random.default_rng(0).integers(0, 2**16, 150_000).astype(np.uint16)  # more than two row groups


@pytest.mark.parametrize("kind", KINDS)
def test_slices_are_those_written(kind, tmp_path):
    kind.write(tmp_path / "array", VALUES)
    with closing(kind(tmp_path / "array")) as reader:
        for start, stop in [(0, 150_000), (0, 1), (149_999, 150_000), (65_536, 131_072), (65_530, 131_080)]:
            found = reader.read(start, stop)
            assert found.dtype == np.uint16
            np.testing.assert_array_equal(found, VALUES[start:stop])


@pytest.mark.parametrize("kind", KINDS)
def test_existing_array_is_not_overwritten(kind, tmp_path):
    kind.write(tmp_path / "array", VALUES[:10])
    before = (tmp_path / "array").read_bytes()
    with pytest.raises(OSError, match="exist"):
        kind.write(tmp_path / "array", VALUES[:20])
    assert (tmp_path / "array").read_bytes() == before


def test_memory_map_comes_first_and_needs_no_library(monkeypatch):
    def without_libraries(name: str) -> object:
        if name.endswith(("arrow", "hdf5")):
            raise ModuleNotFoundError(name)
        return real(name)

    from course_utils.formats import registry

    real = importlib.import_module
    monkeypatch.setattr(registry.importlib, "import_module", without_libraries)
    assert [kind.__name__ for kind in find_arrays()] == ["FlatArray"]


@pytest.mark.parametrize("kind", KINDS)
def test_reader_pickles_as_its_path_and_says_that_it_is_closed(kind, tmp_path):
    kind.write(tmp_path / "array", VALUES)
    reader = kind(tmp_path / "array")
    data = pickle.dumps(reader)
    assert len(data) < 1000
    kept = reader.read(3, 7)
    for _ in range(2):
        reader.close()
    np.testing.assert_array_equal(kept, VALUES[3:7])
    with pytest.raises(ValueError, match="array is closed"):
        reader.read(3, 7)
    with closing(pickle.loads(data)) as again:
        np.testing.assert_array_equal(again.read(3, 7), VALUES[3:7])


@pytest.mark.parametrize("values", [[1, 70_000], [-1], [1.5], [[1, 2]]], ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_values_that_may_not_fit_are_refused_before_there_is_a_file(kind, values, tmp_path):
    with pytest.raises(TypeError):
        kind.write(tmp_path / "array", np.array(values))
    assert not (tmp_path / "array").exists()


@pytest.mark.parametrize("kind", KINDS)
def test_other_byte_order_and_small_integers_are_written(kind, tmp_path):
    for name, dtype in {"big": ">u2", "small": np.uint8}.items():
        kind.write(tmp_path / name, np.array([1, 2, 200], dtype))
        with closing(kind(tmp_path / name)) as reader:
            assert reader.read(0, 3).dtype == np.uint16
            assert reader.read(0, 3).tolist() == [1, 2, 200]


def test_half_a_value_is_named(tmp_path):
    (tmp_path / "array").write_bytes(bytes(5))
    with pytest.raises(PackError, match="array has half a value"):
        FOUND["FlatArray"](tmp_path / "array")
