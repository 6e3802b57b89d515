"""What the tests share: machines, and the program to compare with."""

import json
import os
import subprocess
from typing import Any, Callable

import pytest

import lanewise


@pytest.fixture(scope="session")
def dgx() -> lanewise.Machine:
    """NVLink among eight GPUs, NICs below PCIe switches."""
    return lanewise.machine("dgx-a100")


@pytest.fixture(scope="session")
def pcie() -> lanewise.Machine:
    """GPUs below PCIe switches, without NVLink."""
    return lanewise.machine("a100x8-pcie-4sw")


@pytest.fixture(scope="session")
def program() -> Callable[..., Any]:
    """Runs `lanewise ARGUMENTS --json` and returns what it prints."""

    def run(*arguments: str) -> Any:
        result = subprocess.run(
            [os.environ["LANEWISE_PROGRAM"], *arguments, "--json"], capture_output=True, text=True, check=True
        )
        return json.loads(result.stdout)

    return run


@pytest.fixture(scope="session")
def simulator() -> None:
    """Skips a test where this build has no simulator."""
    if os.environ["LANEWISE_HAS_SIM"] != "1":
        pytest.skip("this build has no simulator")
