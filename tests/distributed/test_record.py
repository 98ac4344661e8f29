from course_utils.distributed.record import Record, Step, samples_of

STEPS = [Step(0, 0, [[1, 2], [3, 4]], 0.5), Step(0, 4, [[5], [6]], 0.25), Step(1, 0, [[6, 5], []], 0.125)]


def test_steps_are_read_as_they_were_written(tmp_path):
    record = Record(tmp_path / "record.jsonl")
    assert record.steps() == []
    for step in STEPS:
        record.append(step)
    assert record.steps() == STEPS


def test_line_of_a_killed_process_does_not_count(tmp_path):
    record = Record(tmp_path / "record.jsonl")
    record.append(STEPS[0])
    with record.path.open("a") as file:
        file.write('{"epoch": 0, "sam')
    assert record.steps() == STEPS[:1]
    record.resume_at({"epoch": 0, "samples": 4})
    record.append(STEPS[1])
    assert record.steps() == STEPS[:2]


def test_steps_after_the_checkpoint_are_removed(tmp_path):
    record = Record(tmp_path / "record.jsonl")
    for step in STEPS:
        record.append(step)
    record.resume_at({"epoch": 1, "samples": 0})
    assert record.steps() == STEPS[:2]
    record.resume_at({"epoch": 0, "samples": 4})
    assert record.steps() == STEPS[:1]


def test_samples_are_in_the_order_that_the_ranks_share():
    assert samples_of(STEPS) == [1, 3, 2, 4, 5, 6, 6, 5]
    assert samples_of([Step(0, 0, [[1, 4, 6], [2, 5], [3]], 0)]) == [1, 2, 3, 4, 5, 6]
