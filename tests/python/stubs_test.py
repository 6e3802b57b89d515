"""The stubs have what the module has, and every name of the package says what it is."""

import ast
import inspect
from pathlib import Path

import pytest

import lanewise
from lanewise import _lanewise

STUBS = ast.parse(Path(_lanewise.__file__).with_name("_lanewise.pyi").read_text())


def public(names):
    return {name for name in names if not name.startswith("_")}


def members(cls: ast.ClassDef):
    functions = {item.name for item in cls.body if isinstance(item, ast.FunctionDef)}
    return public(functions | {item.target.id for item in cls.body if isinstance(item, ast.AnnAssign)})


def test_the_stubs_have_the_names_of_the_module():
    stubbed = {item.name for item in STUBS.body if isinstance(item, (ast.ClassDef, ast.FunctionDef))}
    assert stubbed == public(vars(_lanewise))


CLASSES = [item for item in STUBS.body if isinstance(item, ast.ClassDef)]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.name)
def test_a_class_has_the_members_of_its_stub(cls):
    assert members(cls) == public(vars(getattr(_lanewise, cls.name)))


def test_the_package_exports_all_but_what_its_own_functions_call():
    inner = {"plan_scenario", "check_scenario"}
    assert public(vars(_lanewise)) - inner <= set(lanewise.__all__)
    assert all(hasattr(lanewise, name) for name in lanewise.__all__)


def test_everything_has_a_docstring():
    for name in public(lanewise.__all__) - {"ScenarioLike"}:
        thing = getattr(lanewise, name)
        assert thing.__doc__, name
        if inspect.isclass(thing) and not issubclass(thing, Exception):
            assert all(getattr(thing, member).__doc__ for member in public(vars(thing))), name
