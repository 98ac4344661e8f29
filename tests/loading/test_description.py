"""Transforms with other parameters have another description, or none; equal ones have the same anywhere."""

import enum
import functools
import json
import operator
import subprocess
import sys
from dataclasses import dataclass, field

import numpy as np
import pytest
import torch
import torchvision
from torchvision.transforms import v2

from course_utils.cropping import RandomResizedCrop, Resize
from course_utils.loading.batch_transforms import FlipAndNormalize
from course_utils.loading.description import description
from course_utils.loading.fast_loader import FastLoader
from tests.image_set import numbered_jpeg, numbered_pack


def brighten(images, by=1):
    return images + by


def darken(images):
    return images - 1


@functools.lru_cache
def cached(images):
    return images


def decorated(by):
    @functools.wraps(brighten)
    def function(images):
        return brighten(images, by)

    return function


@dataclass(frozen=True)
class Scale:
    by: object
    cache: object = field(default_factory=object, repr=False, compare=False)

    def __call__(self, images):
        return images * self.by


class Named:
    def __init__(self, by, function=None):
        self.by, self.function = by, function

    def __repr__(self):
        return f"Named({self.by})"

    def __call__(self, images):
        return images

    def method(self, images):
        return images

    @classmethod
    def made(cls, images):
        return images


class Silent:
    """It has no `__repr__` of its own."""

    def __init__(self, by):
        self.by = by

    def __call__(self, images):
        return images * self.by

    def method(self, images):
        return images


class Layer(torch.nn.Module):
    """Its `repr` names no parameter."""

    def __init__(self, by, values=(1.0,)):
        super().__init__()
        self.by = by
        self.register_buffer("values", torch.tensor(values))


class Strength(enum.Enum):
    LOW = 1
    HIGH = 2


# Each of them is something else.
DIFFERENT = [
    None,
    brighten,
    darken,
    cached,
    torch.relu,
    torch.neg,
    torch.nn.functional.relu,
    np.flip,
    np.abs,
    torch.Tensor.float,
    operator.itemgetter(0),
    functools.partial(brighten, by=1),
    functools.partial(brighten, by=2),
    functools.partial(brighten, by=Strength.LOW),
    functools.partial(brighten, by=Strength.HIGH),
    functools.partial(darken),
    Scale(1),
    Scale(2),
    Scale([brighten, {"a": Scale(1)}]),
    Scale([brighten, {"a": Scale(2)}]),
    Scale((darken,)),
    Scale({3, 4}),
    Scale(torch.tensor([0.48500])),
    Scale(torch.tensor([0.48501])),
    Scale(torch.arange(5000)),
    Scale(torch.arange(5000).flip(0)),
    Scale(torch.ones(2, dtype=torch.bfloat16)),
    Scale(np.arange(5000)),
    Scale(np.arange(5000)[::-1]),
    Named(1),
    Named(2),
    Named(1, brighten),
    Named(1, [darken]),
    Named(1).method,
    Named(2).method,
    Named.made,
    Layer(1),
    Layer(2),
    Layer(1, (2.0,)),
    torch.nn.Sequential(Layer(1), Layer(2)),
    torch.nn.Sequential(Layer(2), Layer(1)),
    v2.ToDtype(torch.float32),
    v2.ToDtype(torch.float16),
    v2.Lambda(brighten),
    v2.Lambda(darken),
    v2.Compose([v2.Normalize([0.5] * 3, [0.5] * 3), v2.RandomApply([v2.ColorJitter(0.3)])]),
    v2.Compose([v2.Normalize([0.5] * 3, [0.5] * 3), v2.RandomApply([v2.ColorJitter(0.4)])]),
    torchvision.transforms.Compose([torchvision.transforms.Lambda(brighten)]),
    torchvision.transforms.Compose([torchvision.transforms.Lambda(darken)]),
    FlipAndNormalize(),
    FlipAndNormalize(flip=0.3),
    RandomResizedCrop(8),
    RandomResizedCrop(9),
    Resize(8),
]
LAMBDA = "cannot be told from others, as it is a lambda, a local function or class"
DEFAULT = "cannot be told from one with other parameters.*make the class a dataclass"
REFUSED = [
    (lambda images: images, LAMBDA),
    (decorated(1), LAMBDA),
    (functools.partial(lambda images: images), LAMBDA),
    ([brighten, {"a": (lambda images: images,)}], LAMBDA),
    (Scale(lambda images: images), LAMBDA),
    (Named(1, lambda images: images), LAMBDA),
    (Named(1, [Silent(1)]), DEFAULT),
    (v2.Compose([v2.Lambda(lambda images: images)]), LAMBDA),
    (torchvision.transforms.Compose([torchvision.transforms.Lambda(lambda images: images)]), LAMBDA),
    (torch.nn.Sequential(Layer(Silent(1))), DEFAULT),
    (Silent(1), DEFAULT),
    (Silent(1).method, DEFAULT),
    (functools.partial(brighten, by=Silent(1)), DEFAULT),
    (Scale(Silent(1)), DEFAULT),
    (Named(Silent(1)), DEFAULT),
    ([Silent(1)], DEFAULT),
    (Scale(np.array([Silent(1)])), DEFAULT),
    (torch.Generator(), DEFAULT),
]


def test_other_parameters_have_another_description():
    texts = [description(value) for value in DIFFERENT]
    assert len(set(texts)) == len(texts)
    assert json.loads(json.dumps(texts)) == texts


@pytest.mark.parametrize(("value", "message"), REFUSED)
def test_what_cannot_be_told_from_others_is_refused(value, message):
    with pytest.raises(ValueError, match=message):
        description(value)


def test_what_refers_to_itself_is_refused():
    value = []
    value.append(value)
    with pytest.raises(ValueError, match="refers to itself"):
        description(value)


def test_numbers_of_numpy_are_described_as_those_of_python():
    assert description(Scale((np.int64(8), np.float64(0.5), np.True_))) == "Scale(by=(8, 0.5, True))"
    assert repr(FlipAndNormalize(np.array([0.5] * 3), (0.5,) * 3)) == repr(
        FlipAndNormalize([0.5] * 3, [0.5] * 3)
    )


def test_descriptions_are_the_same_in_another_process():
    code = (
        "import json, sys; from tests.loading.test_description import DIFFERENT, description; "
        "json.dump([description(value) for value in DIFFERENT], sys.stdout)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, timeout=120)
    assert json.loads(done.stdout) == [description(value) for value in DIFFERENT]


@pytest.mark.parametrize(
    ("role", "value"), [("transform", lambda x: x), ("transform", Silent(1)), ("crop", None)]
)
def test_loader_iterates_with_any_transform_and_gives_a_state_only_with_one_that_it_can_describe(
    tmp_path, role, value
):
    path = numbered_pack(tmp_path / "part0.zip", [numbered_jpeg(i) for i in range(5)])
    state = FastLoader(path, 2).state_dict()
    if role == "crop":
        value = type("Crop", (), {"shape": (8, 8), "draw": lambda *_: (), "cut": lambda *_: None})()
    loader = FastLoader(path, 2, **{role: value})
    for use in (loader.state_dict, lambda: loader.load_state_dict(state)):
        with pytest.raises(ValueError, match=f"a state cannot name the {role} of this loader"):
            use()
    if role == "transform":
        assert sum(len(labels) for _, labels in loader) == 5
