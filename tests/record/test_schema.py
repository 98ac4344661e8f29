"""Each kind of damage to a record is named, and a record without damage has none."""

import json
import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from course_utils.record import faults
from course_utils.record.schema import PARTS
from course_utils.record.shown import SHIPPED
from tests.record.samples import VALUES, complete, plain

NAMES = st.sampled_from([(part, name) for part, values in VALUES.items() for name in values])


def found(data: object) -> str:
    return "\n".join(faults(json.dumps(data).encode()))


@pytest.mark.parametrize("gpu", ["", "A GPU"])
def test_complete_record_has_no_faults(gpu):
    assert not found(plain(complete(gpu)))


def test_shipped_records_have_no_faults():
    assert not {
        path.name: faults(path.read_bytes()) for path in SHIPPED.glob("*") if faults(path.read_bytes())
    }


@given(version=st.integers().filter(lambda number: number != 1))
def test_unknown_version_is_named_whatever_else_it_holds(version):
    assert found({"format": "feeding-the-gpu record", "version": version, "new": 1}) == (
        f"it is 'feeding-the-gpu record', version {version}; "
        "this course reads 'feeding-the-gpu record', version 1"
    )


@given(part=st.sampled_from(list(PARTS)))
def test_missing_part_is_named(part):
    data = plain()
    del data["parts"][part]
    assert f"{part}: this part is missing" in found(data)


@given(part=st.sampled_from(list(PARTS)), lost=st.sampled_from([1, 2]))
def test_missing_rounds_are_counted(part, lost):
    data = plain()
    del data["parts"][part]["rounds"][:lost]
    assert f"{part}: {2 - lost} of 2 rounds" in found(data)


@given(part=st.sampled_from(list(PARTS)), unit=st.text())
def test_other_unit_is_named(part, unit):
    data = plain()
    data["parts"][part]["unit"] = unit
    assert (f"{part}: its unit is" in found(data)) == (unit != PARTS[part].unit)


@given(
    where=NAMES,
    number=st.sampled_from([0, 1]),
    value=st.floats(max_value=0, allow_infinity=False) | st.floats(1e9, 1e300),
)
def test_impossible_number_is_named(where, number, value):
    part, name = where
    data = plain()
    data["parts"][part]["rounds"][number]["values"][name] = value
    assert f"{part}: round {number + 1}: {name!r} is impossible" in found(data)


@given(where=NAMES, value=st.sampled_from([math.nan, math.inf, True, None, "3", [1], {}]))
def test_value_that_is_no_finite_number_is_named(where, value):
    part, name = where
    data = plain()
    data["parts"][part]["rounds"][0]["values"][name] = value
    assert found(data).startswith("it is no record: ")


@given(part=st.sampled_from(list(PARTS)), name=st.text().map(lambda name: f"{name}/"))
def test_unknown_number_is_named(part, name):
    data = plain()
    for one in data["parts"][part]["rounds"]:
        one["values"][name] = 2.0
    assert f"{part}: round 1: unknown name" in found(data)


@given(where=NAMES)
def test_number_that_one_round_lacks_is_named(where):
    part, name = where
    data = plain()
    del data["parts"][part]["rounds"][0]["values"][name]
    assert f"{part}: its rounds measure different things" in found(data)


@given(part=st.sampled_from([name for name, kind in PARTS.items() if kind.needs_gpu]))
def test_part_of_a_gpu_without_one_is_named(part):
    data = plain(complete(gpu=""))
    data["parts"][part] = plain()["parts"][part]
    assert found(data) == f"{part}: measured without a GPU"


def test_part_that_every_machine_can_measure_has_no_excuse():
    data = plain()
    data["parts"]["epochs"] |= {"rounds": [], "missing": "no time"}
    assert found(data) == "epochs: every machine can measure this part, and it says 'no time'"


def test_copy_that_no_link_can_do_is_named():
    data = plain()
    for one in data["parts"]["transfers"]["rounds"]:
        one["values"] |= {
            "pinned, non_blocking=True, returned": 0.01,
            "pinned, non_blocking=True, done": 0.02,
        }
    assert "0.02 ms is more than 1,000 GB/s" in found(data)


def test_copy_that_is_done_before_its_call_returns_is_named():
    data = plain()
    data["parts"]["transfers"]["rounds"][0]["values"]["pageable, non_blocking=True, done"] = 0.5
    assert "transfers, round 1: 'pageable, non_blocking=True, done' is shorter" in found(data)


def test_times_in_disorder_or_in_the_future_are_named():
    data = plain()
    data["parts"]["epochs"]["rounds"].reverse()
    data["date"] = (datetime.now(UTC) + timedelta(days=3)).isoformat()
    assert "its date is in the future" in found(data)
    assert "epochs: its rounds are not in the order of their times" in found(data)


@given(keys=st.sampled_from([("machine", "cpu"), ("settings", "rounds"), ("command",), ("versions",)]))
def test_lost_field_is_named(keys):
    data = plain()
    inner = data
    for key in keys[:-1]:
        inner = inner[key]
    del inner[keys[-1]]
    assert f"missing required field `{keys[-1]}`" in found(data)


@given(raw=st.binary() | st.sampled_from([b"[" * 100_000, b'{"format": "\xff"}']))
def test_no_bytes_raise(raw):
    assert faults(raw)


@given(end=st.integers(min_value=0, max_value=len(json.dumps(plain())) - 1))
def test_cut_file_is_no_record(end):
    assert faults(json.dumps(plain())[:end].encode())[0].startswith("it is no record")
