from course_utils.pipeline.scenarios import SLOW_EVERY, cases

SEVEN = [
    "naive loop",
    "fast read",
    "fast collate",
    "pinned memory",
    "several workers",
    "prefetch on the CPU",
    "prefetch on the GPU",
]


def test_the_seven_cases_stand_in_teaching_order():
    assert [c.name for c in cases()] == SEVEN


def test_each_change_makes_the_step_shorter():
    paces = [c.run().step_seconds(SLOW_EVERY) for c in cases()]
    assert paces == sorted(paces, reverse=True)
    assert len(set(paces)) == len(paces)


def test_the_last_case_keeps_the_accelerator_busy():
    last = cases()[-1].run()
    assert round(last.idle_fraction(SLOW_EVERY), 3) == 0
