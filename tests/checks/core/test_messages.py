"""Each message of a check is used, and gets the values of its fields."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from course_utils.checks.core import messages

TABLES = [
    (path, table)
    for path in sorted(messages.CHECKS.glob(f"*/{messages.MESSAGE_FILE}"))
    for table in messages.messages_of(path)
]
MODULE = "course_utils.checks.lesson.exercise"


@pytest.fixture
def mistake(tmp_path, monkeypatch):
    (tmp_path / "lesson").mkdir()
    text = '[exercise]\ntoo_long = "{length} of {right[0]}"\nwrong.red = "red"\nwrong.blue = "blue"\n'
    (tmp_path / "lesson" / messages.MESSAGE_FILE).write_text(text)
    monkeypatch.setattr(messages, "CHECKS", tmp_path)
    return messages.Messages(MODULE)


def test_values_fill_a_message(mistake):
    raised = mistake("too_long", length=7, right=[5], more=0)
    assert (raised.name, raised.message) == ("too_long", "7 of 5")


def test_a_mistake_may_have_several_messages(mistake):
    raised = mistake("wrong.blue")
    assert (raised.name, raised.message) == ("wrong", "blue")


@pytest.mark.parametrize(
    ("name", "values", "missing"),
    [
        ("wrong", {}, "wrong"),
        ("too_long", {"right": [5]}, "length"),
        ("too_long", {"length": 7, "right": []}, "range"),
    ],
)
def test_unknown_messages_and_missing_values_are_named(mistake, name, values, missing):
    with pytest.raises(
        LookupError, match=rf"lesson/messages.toml, \[exercise\] {name}: there is no .*{missing}"
    ):
        mistake(name, **values)


def test_the_first_true_condition_is_raised(mistake):
    with pytest.raises(messages.Mistake, match="red"):
        mistake.raise_first({"too_long": [], "wrong.red": [1], "wrong.blue": True})
    mistake.raise_first({"too_long": 0})


@pytest.mark.parametrize(
    ("path", "table"), TABLES, ids=[f"{path.parent.name}-{table}" for path, table in TABLES]
)
def test_messages_are_used_and_get_their_values(path: Path, table: str):
    [module] = path.parent.rglob(f"{table}.py")
    tree = ast.parse(module.read_text())
    texts = messages.messages_of(path)[table]
    constants = {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    assert not texts.keys() - constants
    for names, given in _raised(tree):
        assert not names - texts.keys()
        if None not in given:
            assert not {field for name in names for field in _fields(texts[name])} - given, names


def _raised(tree: ast.Module) -> Iterator[tuple[set[str], set[str | None]]]:
    """Yield the messages that each call may raise, and the names of its values; None for `**values`."""
    dicts: dict[str, ast.expr] = {}
    for node in sorted(ast.walk(tree), key=lambda node: getattr(node, "lineno", 0)):
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict):
            dicts[ast.unparse(node.targets[0])] = node.value
        if isinstance(node, ast.Call) and ast.unparse(node.func).partition(".")[0] == "mistake":
            [names] = node.args
            names = dicts.get(ast.unparse(names), names)
            named = names.keys if isinstance(names, ast.Dict) else [names]
            yield (
                {one.value for one in named if isinstance(one, ast.Constant)},
                {one.arg for one in node.keywords},
            )


def _fields(text: str) -> set[str]:
    fields = {field for _, field, _, _ in string.Formatter().parse(text) if field}
    return {field.partition("[")[0].partition(".")[0] for field in fields}
