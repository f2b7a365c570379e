"""The handbook pack's agent, and the program that records what it does.

    python tests/handbook/record.py           write golden_sets/handbook/runs/*.jsonl again
    python tests/handbook/record.py --check   say whether they would come out the same

The agent ranks the passages of the corpus by BM25 and answers with sentences taken from them, each
with the place of its passage in the list as its citation. No language model is involved: the
three model families are three ways to choose sentences, so anyone can make the recordings again.
Scores are rounded before they are compared, lest the last bit of somebody's processor decide.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import log
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

PACK = Path(__file__).resolve().parents[2] / "golden_sets" / "handbook"

K1, B = 0.9, 0.4
DECIMALS = 6
LEAST_EVIDENCE = 0.28
"""Share of the question's weight that the first passage must cover for an answer."""
UNKNOWN = "I do not know: the handbook does not answer this question."

STOP = (
    "a about after again all already am an and any are as at be been before but by can could did do"
    " does down else for from get go had has have how i if in into is it its just may me must my no"
    " not of on one or our own please same see shall should simply since so such than that the"
    " their them then there these they this those through to too under up us was we were what when"
    " where which while who whom why will with without would you your"
)
STOP_WORDS = frozenset(STOP.split())
DROPPED = (
    "also already always ever exactly just never not now only quickly silently simply still then"
    " therefore thus too usually very"
)
ADVERBS = frozenset(DROPPED.split())
TRAILING_CLAUSE = re.compile(r", (?:so that|because|although|even|which|whatever|where|while)\b.*")

PLURALS = (("ies", "y"), ("ss", "ss"), ("s", ""))
ENDINGS = (("ation", ""), ("ing", ""), ("ion", ""), ("ed", ""), ("ly", ""), ("er", ""), ("e", ""))


@dataclass(frozen=True, slots=True)
class Version:
    """What tells one version of the agent from another.

    `retrieved` is the length of the list, and `read` counts the passages from its top that the
    families read before they answer.
    """

    retrieved: int = 10
    read: int = 5
    title_weight: int = 0
    endings: bool = False
    feedback_terms: int = 0
    shorten: bool = False
    cites: Literal["passage", "snippet"] = "passage"


VERSIONS: Mapping[str, Version] = {
    "1.0.0": Version(),
    "1.1.0": Version(
        retrieved=8,
        read=8,
        title_weight=2,
        endings=True,
        feedback_terms=12,
        shorten=True,
        cites="snippet",
    ),
    "1.1.1": Version(title_weight=2, endings=True),
}


@dataclass(frozen=True, slots=True)
class Passage:
    doc_id: str
    passage_id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    score: float
    passage: Passage


@dataclass(frozen=True, slots=True)
class Snippet:
    """A sentence that may go into an answer, and where it stands."""

    text: str
    number: int
    place: int
    position: int
    score: float


def terms(text: str, version: Version) -> list[str]:
    """Return a text's stemmed words without stop words; `recall@10` and `0.05` stay whole."""
    words = re.findall(r"[a-z0-9]+(?:[.@_][a-z0-9]+)*", text.casefold())
    return [stem(word, version) for word in words if word not in STOP_WORDS]


def stem(word: str, version: Version) -> str:
    for table in (PLURALS, ENDINGS) if version.endings else (PLURALS,):
        for ending, rest in table:
            if word.endswith(ending) and len(word) - len(ending) >= 3:
                word = word.removesuffix(ending) + rest
                break
    return word


class Index:
    """BM25 over the passages of a corpus, as one matrix of weights: a row each, a column a term."""

    def __init__(self, passages: Sequence[Passage], version: Version) -> None:
        self.passages = passages
        self.version = version
        counts = [self._counts(passage) for passage in passages]
        self.column = {term: i for i, term in enumerate(sorted({t for c in counts for t in c}))}
        self.weights = np.zeros((len(passages), len(self.column)))
        self.idf = dict.fromkeys(self.column, 0.0)
        for term, holders in Counter(term for count in counts for term in count).items():
            self.idf[term] = self._idf(holders)
        lengths = [sum(count.values()) for count in counts]
        mean = sum(lengths) / len(lengths)
        for row, (count, length) in enumerate(zip(counts, lengths, strict=True)):
            damping = K1 * (1 - B + B * length / mean)
            for term, n in count.items():
                self.weights[row, self.column[term]] = self.idf[term] * n * (K1 + 1) / (n + damping)

    def _counts(self, passage: Passage) -> Counter[str]:
        counted = Counter(terms(passage.text, self.version))
        for term in terms(passage.title, self.version) * self.version.title_weight:
            counted[term] += 1
        return counted

    def _idf(self, holders: int) -> float:
        return log(1 + (len(self.passages) - holders + 0.5) / (holders + 0.5))

    def rarity(self, term: str) -> float:
        """Return a term's inverse document frequency; a term unknown to the corpus is rarest."""
        return self.idf.get(term, self._idf(0))

    def search(self, query: Mapping[str, float]) -> list[Hit]:
        """Return as many passages as the version lists, best first."""
        asked = np.zeros(len(self.column))
        for term, weight in query.items():
            if term in self.column:
                asked[self.column[term]] = weight
        scores = np.round(self.weights @ asked, DECIMALS).tolist()
        ranked = sorted(
            zip(scores, self.passages, strict=True),
            key=lambda pair: (pair[0], pair[1].passage_id),
            reverse=True,
        )
        return [
            Hit(score, passage) for score, passage in ranked[: self.version.retrieved] if score > 0
        ]

    def expanded(self, query: Mapping[str, float], hits: Sequence[Hit]) -> dict[str, float]:
        """Add the terms that weigh most in the first three hits to the query, at half weight."""
        rows = [self.passages.index(hit.passage) for hit in hits[:3]]
        weight = np.round(self.weights[rows].sum(axis=0), DECIMALS)
        ranked = sorted(self.column, key=lambda term: (-weight[self.column[term]], term))
        return {**dict.fromkeys(ranked[: self.version.feedback_terms], 0.5), **query}


def retrieve(index: Index, question: str) -> list[Hit]:
    query = dict.fromkeys(terms(question, index.version), 1.0)
    hits = index.search(query)
    if index.version.feedback_terms:
        hits = index.search(index.expanded(query, hits))
    return hits


def snippets(hits: Sequence[Hit], version: Version) -> list[Snippet]:
    """Cut the passages read into sentences, numbered from 1 through all of them."""
    found: list[Snippet] = []
    for place, hit in enumerate(hits[: version.read], 1):
        for position, sentence in enumerate(re.split(r"(?<=\.) (?!\[)", hit.passage.text)):
            text = shortened(sentence) if version.shorten else sentence
            found.append(Snippet(text, len(found) + 1, place, position, hit.score))
    return found


def shortened(sentence: str) -> str:
    """Drop a trailing clause and the adverbs of a sentence."""
    kept = TRAILING_CLAUSE.sub(".", sentence)
    words = [word for word in kept.split(" ") if word.casefold() not in ADVERBS]
    text = " ".join(words)
    return text[:1].upper() + text[1:]


def evidence(index: Index, question: str, hits: Sequence[Hit]) -> float:
    """Return how much of the question's weight the first passage covers, from 0 to 1."""
    if not hits:
        return 0.0
    asked = set(terms(question, index.version))
    first = hits[0].passage
    held = asked.intersection(terms(f"{first.title} {first.text}", index.version))
    return sum(map(index.rarity, sorted(held))) / sum(map(index.rarity, sorted(asked)))


def lead(index: Index, question: str, found: Sequence[Snippet]) -> list[Snippet]:
    """Choose the first sentences: two of the first passage, one of each that scores nearly as well."""
    top = found[0].score
    return [
        snippet
        for snippet in found
        if snippet.position < (2 if snippet.place == 1 else 1) and snippet.score >= 0.7 * top
    ][:4]


def overlap(index: Index, question: str, found: Sequence[Snippet]) -> list[Snippet]:
    """Choose the three sentences that share most with the question, for their length and place."""
    asked = set(terms(question, index.version))

    def worth(snippet: Snippet) -> float:
        held = terms(snippet.text, index.version)
        shared = sum(index.rarity(term) for term in sorted(asked.intersection(held)))
        return round(shared / (len(held) + 10) + snippet.score / found[0].score, DECIMALS)

    return sorted(found, key=lambda snippet: (-worth(snippet), snippet.number))[:3]


def salience(index: Index, question: str, found: Sequence[Snippet]) -> list[Snippet]:
    """Choose three sentences near the centre of the passages and unlike each other (MMR)."""
    vectors = np.stack([_vector(index, snippet.text) for snippet in found])
    scores = np.array([snippet.score for snippet in found])
    centre = _unit(scores @ vectors) + 2 * _vector(index, question)
    near = vectors @ _unit(centre) * scores / scores[0]
    alike = vectors @ vectors.T
    chosen: list[int] = []
    while len(chosen) < min(3, len(found)):
        repeats = alike[:, chosen].max(axis=1) if chosen else np.zeros(len(found))
        gain = np.round(0.7 * near - 0.3 * repeats, DECIMALS)
        gain[chosen] = -np.inf
        chosen.append(int(gain.argmax()))
    return [found[i] for i in chosen]


def _vector(index: Index, text: str) -> NDArray[np.float64]:
    vector = np.zeros(len(index.column))
    for term in terms(text, index.version):
        if term in index.column:
            vector[index.column[term]] += index.idf[term]
    return _unit(vector)


def _unit(vector: NDArray[np.float64]) -> NDArray[np.float64]:
    length = np.sqrt((vector**2).sum())
    return vector / length if length else vector


Family = Callable[[Index, str, Sequence[Snippet]], list[Snippet]]
FAMILIES: Mapping[str, Family] = {
    "extractive-lead": lead,
    "extractive-overlap": overlap,
    "extractive-salience": salience,
}


def answer(index: Index, family: Family, question: str, hits: Sequence[Hit]) -> str:
    """Write an answer of a few sentences, each cited, in the order in which they were read."""
    if evidence(index, question, hits) < LEAST_EVIDENCE:
        return UNKNOWN
    chosen = family(index, question, snippets(hits, index.version))
    return " ".join(cited(snippet, index.version) for snippet in sorted(chosen, key=_reading_order))


def _reading_order(snippet: Snippet) -> int:
    return snippet.number


def cited(snippet: Snippet, version: Version) -> str:
    number = snippet.place if version.cites == "passage" else snippet.number
    return f"{snippet.text.removesuffix('.')} [{number}]."


def rows(version: Version) -> Iterator[dict[str, Any]]:
    """Ask every question of every family and yield the rows of the run."""
    index = Index([Passage(**line) for line in read(PACK / "corpus.jsonl")], version)
    for name, family in FAMILIES.items():
        for case in read(PACK / "questions.jsonl"):
            hits = retrieve(index, case["question"])
            yield {
                "id": case["id"],
                "attempt": 1,
                "model_family": name,
                "retrieved": [{**asdict(hit.passage), "score": hit.score} for hit in hits],
                "answer": answer(index, family, case["question"], hits),
            }


def read(path: Path) -> Iterable[dict[str, Any]]:
    return map(json.loads, path.read_text(encoding="utf-8").splitlines())


def recording(name: str) -> str:
    """Return the run of a version as it stands in its file."""
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows(VERSIONS[name]))


def main() -> int:
    parser = argparse.ArgumentParser(description="Record what the handbook's agent does.")
    parser.add_argument("--check", action="store_true", help="compare with the files, write none")
    check = parser.parse_args().check
    stale = []
    for name in VERSIONS:
        path = PACK / "runs" / f"{name}.jsonl"
        text = recording(name)
        if not check:
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        elif not path.is_file() or path.read_text(encoding="utf-8") != text:
            stale.append(path.name)
    for file in stale:
        print(f"{file} is not what this program writes", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
