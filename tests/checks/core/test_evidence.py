import contextlib
from typing import NotRequired, TypedDict

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.checks.core import evidence

plain = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(evidence.MIN_INT, evidence.MAX_INT)
    | st.floats(allow_nan=False)
    | st.text()
    | st.text(min_size=1).map(lambda text: text * (evidence.LONG_TEXT + 1))
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(plain)
def test_plain_data_round_trips(value):
    assert evidence.decode(evidence.encode(value)) == value


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32"])
def test_array_round_trips_with_dtype_and_shape(dtype):
    array = np.arange(24).reshape(2, 3, 4).astype(dtype).transpose(2, 0, 1)
    back = evidence.decode(evidence.encode({"pixels": array}))["pixels"]
    assert back.dtype == array.dtype
    np.testing.assert_array_equal(back, array)


class EqualToAnything(int):
    def __eq__(self, other):
        return True

    __hash__ = int.__hash__


def test_subclass_is_reduced_to_its_plain_type():
    back = evidence.decode(evidence.encode(EqualToAnything(3)))
    assert type(back) is int
    assert back != 4


@pytest.mark.parametrize("value", [object(), {"a": [print]}, np.array([object()])])
def test_non_plain_value_is_refused_with_its_location(value):
    with pytest.raises(TypeError, match="evidence"):
        evidence.encode(value)


@pytest.mark.parametrize(
    ("value", "reduced"),
    [
        (10**4000, evidence.MAX_INT),
        (-(10**30), evidence.MIN_INT),
        ("\ud800", "\\ud800"),
        ({"\udcff": 1}, {"\\udcff": 1}),
        (float("-inf"), float("-inf")),
    ],
)
def test_extreme_value_is_reduced_to_one_that_fits(value, reduced):
    assert evidence.decode(evidence.encode(value)) == reduced


class Pixels(TypedDict):
    kind: str
    array: np.ndarray | None


class Found(TypedDict):
    pixels: list[Pixels]
    child: NotRequired["Found"]


def test_expected_type_is_returned_without_other_keys():
    inner = {"pixels": [{"kind": "Tensor", "array": np.zeros(3), "more": 1}]}
    found = evidence.decode(evidence.encode({**inner, "child": inner}), Found)
    assert found["pixels"][0].keys() == found["child"]["pixels"][0].keys() == {"kind", "array"}


@pytest.mark.parametrize(
    "value",
    [
        None,
        [],
        {},
        {"pixels": None},
        {"pixels": [{"kind": 3, "array": None}]},
        {"pixels": [{"kind": "", "array": [1.0]}]},
        {"pixels": [], "child": {"pixels": True}},
    ],
    ids=repr,
)
def test_another_type_is_refused(value):
    with pytest.raises(evidence.DamagedEvidenceError):
        evidence.decode(evidence.encode(value), Found)


def test_message_is_not_amplified():
    """Neither many empty lists nor nested ones take more than a bounded memory or recursion."""
    for header in (b"[" + b"[]," * evidence.MAX_ITEMS + b"[]]", b"[" * 80 + b"]" * 80, b"9" * 5000):
        with pytest.raises(evidence.DamagedEvidenceError):
            evidence.decode(len(header).to_bytes(8, "little") + header)


MALFORMED_HEADERS = {
    "empty": b"",
    "not_json": b"{",
    "not_utf8": b'"\xff"',
    "unknown_object": b"{}",
    "dict_of_a_number": b'{"dict": 3}',
    "part_without_size": b'{"bytes": [0]}',
    "part_outside": b'{"bytes": [0, 9]}',
    "part_before_the_start": b'{"bytes": [-1, 1]}',
    "part_used_twice": b'[{"bytes": [0, 4]}, {"bytes": [0, 4]}]',
    "part_of_text": b'{"bytes": ["0", "4"]}',
    "objects": b'{"array": [0, 4], "dtype": "object", "shape": [1]}',
    "negative_shape": b'{"array": [0, 4], "dtype": "uint8", "shape": [-2, -2]}',
    "fractional_shape": b'{"array": [0, 4], "dtype": "uint8", "shape": [4.0]}',
    "shape_of_text": b'{"array": [0, 4], "dtype": "uint8", "shape": "4"}',
    "unknown_float": b'{"float": "1"}',
    "lone_surrogate": b'"\\ud800"',
    "nan": b"NaN",
    "nested_too_deep": b"[" * 100_000,
}


@pytest.mark.parametrize("header", MALFORMED_HEADERS.values(), ids=MALFORMED_HEADERS)
def test_malformed_header_is_refused(header):
    with pytest.raises(evidence.DamagedEvidenceError):
        evidence.decode(len(header).to_bytes(8, "little") + header + b"blob")


@given(plain, st.data())
def test_corrupted_evidence_raises_no_other_error(value, data):
    corrupted = bytearray(evidence.encode({"value": value}))
    corrupted[data.draw(st.integers(8, len(corrupted) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(evidence.DamagedEvidenceError):
        evidence.decode(bytes(corrupted))


@given(plain, st.integers(1, 100))
def test_truncated_evidence_is_refused(value, cut):
    data = evidence.encode([value, b"end"])
    with pytest.raises(evidence.DamagedEvidenceError):
        evidence.decode(data[:-cut])


def test_array_larger_than_its_bytes_is_refused():
    data = evidence.encode(np.zeros(4, np.uint8)).replace(b"[4]", b"[9]")
    with pytest.raises(evidence.DamagedEvidenceError, match="shape"):
        evidence.decode(data)
