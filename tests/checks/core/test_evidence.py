import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.checks.core import evidence

plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(plain)
def test_plain_data_comes_back_as_it_was(value):
    assert evidence.decode(evidence.encode(value)) == value


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32"])
def test_arrays_keep_dtype_shape_and_values(dtype):
    array = np.arange(24).reshape(2, 3, 4).astype(dtype).transpose(2, 0, 1)
    back = evidence.decode(evidence.encode({"pixels": array}))["pixels"]
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


class LyingInt(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


def test_a_subclass_is_reduced_to_its_plain_value():
    back = evidence.decode(evidence.encode(LyingInt(3)))
    assert type(back) is int
    assert back != 4


@pytest.mark.parametrize("value", [object(), {"a": [print]}, np.array([object()])])
def test_what_is_not_plain_is_refused_with_its_place(value):
    with pytest.raises(TypeError, match="evidence"):
        evidence.encode(value)


def refuses(data):
    """Whether data is refused as damaged; any other error passes through."""
    try:
        evidence.decode(data)
    except evidence.DamagedEvidenceError:
        return True
    return False


@given(st.binary(max_size=200))
def test_any_bytes_are_read_or_refused(data):
    assert refuses(data) in (True, False)


@given(plain, st.integers(1, 100))
def test_cut_off_bytes_never_read_as_the_whole(value, cut):
    data = evidence.encode([value, b"end"])
    assert refuses(data[:-cut])


def test_an_array_larger_than_its_bytes_is_refused():
    data = evidence.encode(np.zeros(4, np.uint8)).replace(b"[4]", b"[9]")
    with pytest.raises(evidence.DamagedEvidenceError, match="shape"):
        evidence.decode(data)
