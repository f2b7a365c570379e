"""How a model is asked: the question, the passages, and how to cite them.

Three templates make the prompt: `system`, `user` and, for each passage, `passage`. In them stand
`{question}`, `{passages}`, `{label}`, `{title}`, `{text}` and `{example}`; every other brace is text.
What is put in is not looked through again, so that a passage cannot bring placeholders of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from aal_engine.measure.golden import CitationStyle
from aal_engine.measure.run import Passage

SYSTEM = """\
Answer the question from the passages alone. Behind every statement, cite the passages that support \
it by {kind} in square brackets, as in {example}. Cite nothing else. If the passages do not \
answer the question, say that you do not know, and cite nothing."""

USER = """\
{passages}

Question: {question}"""

PASSAGE = """\
[{label}] {title}
{text}
"""

KINDS: Mapping[str, str] = {"index": "their numbers", "id": "their ids"}

_PLACE = re.compile(r"\{(question|passages|label|title|text|example|kind)\}")


@dataclass(frozen=True, slots=True)
class Prompt:
    """The three templates."""

    system: str = SYSTEM
    user: str = USER
    passage: str = PASSAGE


def filled(template: str, values: Mapping[str, str]) -> str:
    """Put values into a template, in one pass.

    >>> filled("{question} {x}", {"question": "{text}?"})
    '{text}? {x}'
    """
    return _PLACE.sub(lambda found: values.get(found[1], found[0]), template)


def label(passage: Passage, place: int, style: CitationStyle) -> str:
    """Return what a passage is cited by; `place` counts from 0."""
    if style.mode == "id":
        return passage.passage_id or passage.doc_id
    return str(place + style.base)


def asked(
    prompt: Prompt, question: str, passages: Sequence[Passage] | None, style: CitationStyle
) -> tuple[str, str]:
    """Return the system's and the user's message; without passages, the bare question."""
    if passages is None:
        return "", question
    labels = [label(passage, place, style) for place, passage in enumerate(passages)]
    listed = "\n".join(
        filled(
            prompt.passage,
            {"label": name, "title": passage.title or "", "text": passage.text or ""},
        )
        for name, passage in zip(labels, passages, strict=True)
    )
    example = f"[{labels[0] if labels else style.base}]"
    values = {
        "question": question,
        "passages": listed,
        "example": example,
        "kind": KINDS[style.mode],
    }
    return filled(prompt.system, values), filled(prompt.user, values)
