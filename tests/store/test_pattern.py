"""Patterns in the place of paths."""

from __future__ import annotations

from contextlib import chdir
from pathlib import Path

import pytest

from aal_engine.errors import InputError
from aal_engine.store.pattern import matching


def test_a_pattern_gives_its_files_in_order(tmp_path):
    (tmp_path / "sub").mkdir()
    for name in ("b.txt", "a.txt", "c.gz", "sub/d.txt"):
        (tmp_path / name).touch()
    assert matching(tmp_path / "*.txt") == [tmp_path / "a.txt", tmp_path / "b.txt"]
    assert matching(tmp_path / "**" / "*.txt")[-1] == tmp_path / "sub" / "d.txt"
    assert matching(tmp_path / "[bc].*") == [tmp_path / "b.txt", tmp_path / "c.gz"]
    with chdir(tmp_path):
        assert matching(Path("?.gz")) == [Path("c.gz")]


def test_what_exists_or_is_no_pattern_is_a_path(tmp_path):
    odd = tmp_path / "run[1].txt"
    odd.touch()
    assert matching(odd) == [odd]
    assert matching(tmp_path / "none.txt") == [tmp_path / "none.txt"]
    assert matching(Path("-")) == [Path("-")]


def test_a_pattern_without_a_file_is_told_without_its_folder(tmp_path):
    with pytest.raises(InputError) as told:
        matching(tmp_path / "*.txt")
    assert str(told.value) == "*.txt: matches no file"
