"""Options and fixtures of the whole suite."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator

# Before numpy is loaded, and for the processes that tests start: there is a process a core, and threads of numerical
# libraries that wait for each other in a spin take three times the time that small fits need.
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["OMP_NUM_THREADS"] = "1"
# As many jobs as there are cores are one: workers that a test does not ask for take longer to start than they work.
os.environ["LOKY_MAX_CPU_COUNT"] = "1"
# Colours are those of no terminal, also where whoever runs the tests asks for them.
os.environ.pop("FORCE_COLOR", None)

import pytest
from hypothesis import settings

from dpaudit.outputs.parts import REGISTERED, parts
from dpaudit.places import PRIVATE
from dpaudit.registry import conformance

# The same examples in every run: a failure is one of the code, and comes again.
settings.register_profile("repeatable", derandomize=True, deadline=None, database=None)
settings.load_profile("repeatable")


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--profile", choices=("quick", "full"), default="quick", help="full runs the long calibrations too"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--profile") == "full":
        return
    skip = pytest.mark.skip(reason="long calibration: run ./scripts/test --profile full")
    for item in items:
        if "full" in item.keywords:
            item.add_marker(skip)


def pytest_collection_finish() -> None:
    """Keep what was loaded and collected out of the collector's sight, and let it look at the rest half as often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 20)


@pytest.fixture
def _fewer_runs(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Compare runs with laws by 4,000 runs of a sample, in the full profile by the 20,000 that learners' authors get.

    A law that is off by 0.1 in total variation, spread over up to 100 cells, is seen with probability above 0.99 by the
    former (noncentrality at least 4 * 4,000 * 0.1^2 = 160), and one that is off by 0.05 by the latter.
    """
    if request.config.getoption("--profile") != "full":
        monkeypatch.setattr(conformance, "RUNS", 4_000)


@pytest.fixture(autouse=True)
def _modules_of_a_folder_are_loaded_for_one_test(request: pytest.FixtureRequest) -> Iterator[None]:
    """Forget the modules that a test loaded under their own names from its folder: another has files of those names."""
    folder = str(request.getfixturevalue("tmp_path")) if "tmp_path" in request.fixturenames else None
    before = set(sys.modules) if folder else ()
    yield
    for name in sys.modules.keys() - before if folder else ():
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(folder) and not name.startswith(PRIVATE):
            del sys.modules[name]


@pytest.fixture(autouse=True)
def _types_are_registered_for_one_test() -> Iterator[None]:
    """Forget the types that a test registered: the workers of another test could not import them."""
    before = dict(REGISTERED)
    yield
    for kind in REGISTERED.keys() - before.keys():
        del REGISTERED[kind]
        parts.register(kind, parts.dispatch(object))
