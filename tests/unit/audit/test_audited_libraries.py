"""The libraries that a mechanism is made of, by the module that it stands in; nothing is imported to find them."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import msgspec
import pytest

import dpaudit
from dpaudit.audit.libraries import libraries_of

MSGSPEC = {"msgspec": version("msgspec")}


def module_of(monkeypatch: pytest.MonkeyPatch, name: str, source: str) -> types.ModuleType:
    made = types.ModuleType(name)
    made.__file__ = f"/somewhere/{name}.py"
    exec(source, vars(made))
    monkeypatch.setitem(sys.modules, name, made)
    return made


SOURCE = """
import functools
{imports}

def mechanism(data, rng):
    {inside}
    return 1

class Callable:
    def __call__(self, data, rng):
        return mechanism(data, rng)

    def method(self, data, rng):
        return 1

def made(data):
    return lambda data, rng: mechanism(data, rng)
"""


@pytest.fixture(params=["import msgspec", "from msgspec import json", "from msgspec import Struct as S"])
def module(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    return module_of(monkeypatch, "users_own", SOURCE.format(imports=request.param, inside="pass"))


@pytest.mark.parametrize(
    "form",
    [
        lambda m: m.mechanism,
        lambda m: functools.partial(m.mechanism),
        lambda m: m.Callable(),
        lambda m: m.Callable().method,
        lambda m: m.made(None),
        lambda m: functools.wraps(m.mechanism)(lambda *a: m.mechanism(*a)),
    ],
    ids=["function", "partial", "object", "method", "closure", "wrapped"],
)
def test_imports_of_the_module_are_named(module: types.ModuleType, form: Callable[[Any], Any]) -> None:
    assert libraries_of(form(module)) == MSGSPEC


def test_imports_in_a_function_and_by_the_users_other_modules_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    inside = module_of(monkeypatch, "inside_own", SOURCE.format(imports="", inside="import msgspec.json"))
    assert libraries_of(inside.mechanism) == MSGSPEC
    module_of(monkeypatch, "helper_own", SOURCE.format(imports="import msgspec", inside="pass"))
    outer = module_of(monkeypatch, "outer_own", SOURCE.format(imports="import helper_own", inside="pass"))
    assert libraries_of(outer.mechanism) == MSGSPEC


def test_what_every_finding_names_and_python_itself_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = module_of(monkeypatch, "plain_own", SOURCE.format(imports="import numpy, pandas, json", inside="pass"))
    assert libraries_of(plain.mechanism) == {}
    assert libraries_of(len) == {}
    assert libraries_of(msgspec.json.encode) == MSGSPEC


def test_a_finding_names_them(module: types.ModuleType) -> None:
    finding = dpaudit.audit_privacy(module.mechanism, [(0, 1)], epsilon=1.0, trials=100, seed=0)
    assert finding.libraries == MSGSPEC
    assert f"msgspec {MSGSPEC['msgspec']}" in finding.summary()
    assert {"pandas", "joblib"} <= finding.versions.keys()
    read = type(finding).from_dict(finding.to_dict())
    assert read == finding


class Nothing:
    """A proxy that stands for nothing, as that of a request outside of one."""

    def __getattribute__(self, name: str) -> Any:
        if name == "__class__":
            return super().__getattribute__(name)
        raise RuntimeError("working outside of a request")


def test_proxies_beside_a_mechanism_are_no_fault(module: types.ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    wrapt = pytest.importorskip("wrapt")
    # What wrapt makes shows a code object that is a proxy, which cannot be disassembled.
    monkeypatch.setattr(module, "decorator", wrapt.decorator(lambda wrapped, instance, a, k: wrapped(*a, **k)), False)
    monkeypatch.setattr(module, "request", Nothing(), raising=False)
    assert MSGSPEC.items() <= libraries_of(module.mechanism).items()
