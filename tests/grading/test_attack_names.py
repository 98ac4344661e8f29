"""The names that attacks use exist: an attack on a module that has moved proves nothing."""

import ast
import importlib
import sys

import pytest
from IPython.core.inputtransformer2 import TransformerManager

from course_utils.checks import multi_worker_handles
from grading.sandbox.worker import Shell
from tests.grading.attacks import any_check, damage, fake, learn, tamper
from tests.grading.toy.toy_checks import arithmetic

ATTACKS = {**fake.ATTACKS, **learn.ATTACKS, **damage.ATTACKS, **tamper.ATTACKS}
SOURCES = {name: attack.total for name, attack in ATTACKS.items()}
SOURCES |= any_check.ATTACKS
# What the setup cells import, and what IPython defines.
DEFINED = {"arithmetic": arithmetic, "multi_worker_handles": multi_worker_handles}
WRITTEN = {"mine"}  # modules that attacks write before they import them
UNKNOWN = object()


class Resolver(ast.NodeVisitor):
    """Looks up each dotted name that begins with an import, and records those that do not exist."""

    def __init__(self) -> None:
        self.names, self.missing, self.resolved = dict(DEFINED), [], []

    def visit_Import(self, node):
        for alias in node.names:
            if alias.name in WRITTEN:
                continue
            module = importlib.import_module(alias.name)
            root = sys.modules[alias.name.partition(".")[0]]
            self.names[alias.asname or alias.name.partition(".")[0]] = module if alias.asname else root

    def visit_ImportFrom(self, node):
        if node.module not in WRITTEN:
            for alias in node.names:
                self.names[alias.asname or alias.name] = self.get(
                    importlib.import_module(node.module), alias.name
                )

    def visit_Assign(self, node):
        self.generic_visit(node)
        for target in node.targets:
            if isinstance(target, ast.Name):
                self.names[target.id] = self.value(node.value)

    def visit_Attribute(self, node):
        self.value(node)
        self.generic_visit(node)

    def visit_Call(self, node):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="__setattr__"), args=[owner, ast.Constant(value=str(name)), _]
            ):
                self.get(self.value(owner), name)
        self.generic_visit(node)

    def visit_Subscript(self, node):
        self.value(node)
        self.generic_visit(node)

    def value(self, node):
        """Return the object that an expression names; `UNKNOWN` where only running it would tell."""
        match node:
            case ast.Name(id=name):
                return self.names.get(name, UNKNOWN)
            case ast.Attribute(value=owner, attr=name):
                return self.get(self.value(owner), name)
            case ast.Call(func=ast.Name(id="get_ipython")):
                return Shell
            case ast.Call(func=ast.Name(id="type"), args=[argument]) if self.value(argument) is Shell:
                return Shell
            case ast.Subscript(value=ast.Attribute(attr="modules"), slice=ast.Constant(value=str(name))):
                name = f"tests.grading.toy.{name}" if name.startswith("toy_checks") else name
                return importlib.import_module(name)
        return UNKNOWN

    def get(self, owner, name):
        if owner is UNKNOWN:
            return UNKNOWN
        self.resolved.append(name)
        if not hasattr(owner, name):
            self.missing.append(f"{owner!r} has no {name}")
        # The class of IPython's shell holds descriptors in place of the values that attacks use.
        return UNKNOWN if owner is Shell else getattr(owner, name, UNKNOWN)


def resolve(source):
    resolver = Resolver()
    resolver.visit(ast.parse(TransformerManager().transform_cell(source)))
    return resolver


@pytest.mark.parametrize("name", SOURCES)
def test_names_that_an_attack_uses_exist(name):
    assert resolve(SOURCES[name]).missing == []


@pytest.mark.parametrize(
    "source",
    [
        "from course_utils.checks.core.check import Check\nCheck.no_such_method = None",
        "from course_utils.checks.core import no_such_module",
        "object.__setattr__(arithmetic.total, 'no_such_field', None)",
        "def total_of(numbers):\n    arithmetic.no_such_check()",
        "get_ipython().no_such_method()",
        "type(get_ipython()).no_such_method = None",
        "import sys\nsys.modules['toy_checks.arithmetic'].no_such_name = None",
        "check = arithmetic.total\nhonest = check.no_such_field",
    ],
)
def test_renamed_target_is_noticed(source):
    assert len(resolve(source).missing) >= 1


def test_attacks_on_the_checks_are_among_those_resolved():
    found = {name for source in SOURCES.values() for name in resolve(source).resolved}
    assert {
        "verdict",
        "run_probe",
        "judge",
        "probe",
        "make",
        "encode",
        "run_cell",
        "record",
    } <= found
