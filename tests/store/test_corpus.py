from __future__ import annotations

import json

import pytest

from aal_engine.errors import InputError
from aal_engine.store.corpus import key_of, load_corpus


def write(path, *rows):
    path.write_text("".join((r if isinstance(r, str) else json.dumps(r)) + "\n" for r in rows))
    return path


def test_passages_under_the_names_that_people_give_their_ids(tmp_path):
    corpus = load_corpus(
        write(
            tmp_path / "kb.jsonl",
            {"passage_id": "a#1", "doc_id": "a", "text": "x", "title": ""},
            {"_id": 7, "text": "y", "title": "T", "metadata": {}},
            {"id": "c", "doc_id": "c", "text": ""},
        )
    )
    assert [(key_of(one), one.doc_id, one.title) for one in corpus.passages] == [
        ("a#1", "a", None),
        ("7", "7", "T"),
        ("c", "c", None),
    ]
    assert corpus.name == "kb"


def test_every_line_that_is_no_passage_is_told(tmp_path):
    path = write(
        tmp_path / "kb.jsonl",
        {"text": "no id"},
        {"id": "a"},
        {"id": "a", "text": 7},
        "{",
        {"id": "b", "text": "one"},
        {"id": "b", "text": "Qx-passage-Zw"},
        {"id": "c", "text": "x", "title": 3},
        [],
    )
    with pytest.raises(InputError) as refused:
        load_corpus(path)
    assert [fault.line for fault in refused.value.faults] == [1, 2, 3, 4, 6, 7, 8]
    assert "Qx" not in str(refused.value)


def test_an_empty_file_is_no_corpus(tmp_path):
    with pytest.raises(InputError, match="holds no passage"):
        load_corpus(write(tmp_path / "kb.jsonl"))
