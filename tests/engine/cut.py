"""Cuts the project's documentation into passages: the corpus of the engine's own golden set.

    python tests/engine/cut.py          write golden_sets/engine/corpus.jsonl again

A passage is one paragraph, table or list item of a README, or the head of a module's docstring. The
corpus is part of the golden set and stays as it is between releases of the set: documentation that
changes does not change what was measured.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
OUT = ROOT / "golden_sets" / "engine" / "corpus.jsonl"
READMES = ("README.md", "aal_engine/README.md", "golden_sets/handbook/README.md")
LONGEST = 1200
SHORTEST = 60


def main() -> None:
    """Write the corpus."""
    rows = [*readme_passages(), *module_passages()]
    OUT.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    print(f"{len(rows)} passages, {OUT.stat().st_size} bytes")


def readme_passages() -> Iterator[dict[str, str]]:
    for name in READMES:
        heading = ""
        numbers: Counter[str] = Counter()
        for block in blocks((ROOT / name).read_text(encoding="utf-8")):
            if block.startswith("#"):
                heading = block.lstrip("# ").strip()
                continue
            text = plain(block)
            if len(text) >= SHORTEST:
                key = f"{slug(name)}.{slug(heading)}"
                numbers[key] += 1
                yield {"id": f"{key}.{numbers[key]}", "title": heading, "text": text[:LONGEST]}


def blocks(text: str) -> Iterator[str]:
    """Yield paragraphs, tables, headings and list items; blocks of code are left out."""
    text = re.sub(r"^```.*?^```\n?", "", text, flags=re.MULTILINE | re.DOTALL)
    for part in re.split(r"\n\s*\n", text):
        lines = part.strip("\n")
        if lines.startswith("- "):
            yield from re.split(r"\n(?=- )", lines)
        elif lines.strip():
            yield lines


def plain(block: str) -> str:
    text = re.sub(r"^\|[ :|-]+\|$\n?", "", block, flags=re.MULTILINE)
    text = re.sub(r"^\| | \|$", "", text, flags=re.MULTILINE).replace(" | ", ": ")
    text = text.removeprefix("- ").replace("**", "")
    return " ".join(text.split())


def module_passages() -> Iterator[dict[str, str]]:
    for path in sorted((ROOT / "aal_engine").rglob("*.py")):
        said = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))
        if said is None:
            continue
        text = " ".join(re.sub(r"\n\n    .*?(?=\n\n|\Z)", "", said, flags=re.DOTALL).split())
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        if len(text) >= SHORTEST:
            name = module.removesuffix(".__init__")
            yield {"id": name, "title": name.replace("_", " "), "text": text[:LONGEST]}


def slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", text.lower().removesuffix(".md")).strip("-") or "top"


if __name__ == "__main__":
    main()
