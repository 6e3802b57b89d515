"""The Python of the documents runs."""

import re
from pathlib import Path

import pytest

DOCUMENT = Path("docs/python.md").read_text()
BLOCKS = re.findall(r"^```python\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)


def test_the_document_has_examples():
    assert len(BLOCKS) >= 3


def test_the_examples_run_one_after_another(capsys: pytest.CaptureFixture[str]):
    names: dict[str, object] = {}
    for block in BLOCKS:
        exec(compile(block, "docs/python.md", "exec"), names)
    assert "parsec" in capsys.readouterr().out
