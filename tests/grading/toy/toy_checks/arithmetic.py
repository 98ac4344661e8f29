"""Checks of the toy lesson 01_arithmetic."""

from course_utils.checks.core.check import Check, Mistake


def _numbers(rng):
    numbers = rng.integers(1, 10**9, 20)
    return {"numbers": numbers}, {"sum": int(numbers.sum()), "largest": int(numbers.max())}


def _same(found, expected, name):
    if type(found) is not int or found != expected:
        raise Mistake(name, "This is not the right number. Try it on [1, 2].")
    return "The number is right."


total = Check(
    make=_numbers,
    probe=lambda inputs, total_of: {"value": int(total_of(inputs["numbers"].tolist()))},
    judge=lambda truth, found: _same(found["value"], truth["sum"], "wrong_total"),
)

largest = Check(
    make=_numbers,
    probe=lambda inputs, largest_of: {"value": int(largest_of(inputs["numbers"].tolist()))},
    judge=lambda truth, found: _same(found["value"], truth["largest"], "wrong_largest"),
)


def _text(rng):
    word = rng.bytes(12).hex()
    return {"word": word}, word[::-1]


def _reversed(truth, found):
    if found["text"] != truth:
        raise Mistake("not_reversed", "The text is not reversed. Try it on 'ab'.")
    return "The text is reversed."


backwards = Check(
    make=_text,
    probe=lambda inputs, backwards: {"text": backwards(inputs["word"])},
    judge=_reversed,
)
