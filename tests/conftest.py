"""Options and fixtures of the whole suite."""

from __future__ import annotations

import pytest


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
