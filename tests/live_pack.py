"""A small pack, its passages and a policy, to run live against whatever a test serves."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FAMILIES = {"claude": "first", "gpt": "second", "llama": "third"}
PACK = """\
name: support
agent: desk
autonomy: 1
sensitivity: restricted
citations: {mode: index, base: 1}
suites:
  core: {file: core.jsonl, kinds: [retrieval, answers]}
"""
POLICY = f"model_families:\n  allow: [{', '.join(FAMILIES)}]\nfirst_release: allow\n"


def topic(number: int) -> str:
    """A word of letters alone, for BM25 to find and nothing else to hold."""
    return "topic" + "".join(chr(ord("a") + int(digit)) for digit in f"{number:03d}")


def make(folder: Path, cases: int = 20, mark: str = "") -> Path:
    """Write pack, passages and policy; `mark` stands in every text of them."""
    home = folder / "support"
    home.mkdir(parents=True)
    (home / "pack.yaml").write_text(PACK)
    (folder / "policy.yaml").write_text(POLICY)
    with (home / "core.jsonl").open("w") as file:
        for number in range(cases):
            case = {
                "id": f"case-{number:03d}",
                "question": f"What is known of {topic(number)} {mark}?",
                "relevant": {f"doc-{number:03d}": 2},
                "must_mention": [topic(number)],
            }
            file.write(json.dumps(case) + "\n")
    with (folder / "kb.jsonl").open("w") as file:
        for number in range(cases):
            for part in range(3):
                passage = {
                    "id": f"doc-{number:03d}#{part}",
                    "doc_id": f"doc-{number:03d}",
                    "title": f"About {topic(number)}",
                    "text": f"The {topic(number)} has part {part} {mark}. It is known well.",
                }
                file.write(json.dumps(passage) + "\n")
    return folder


def agent(folder: Path, **options: Any) -> str:
    """Write an agent.yaml with three families; a chat agent unless it says otherwise."""
    families = {name: {"model": model} for name, model in FAMILIES.items()}
    value = {"kind": "chat", "families": families, "first_pause": 0.01, **options}
    (folder / "agent.yaml").write_text(json.dumps(value))
    return "agent.yaml"
