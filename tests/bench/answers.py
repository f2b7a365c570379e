"""How fast answers are judged, and that memory stays flat.

    python tests/bench/answers.py [--answers 2000] [--long 300]

Answers of about 2,000 characters with ten markers, five passages of 1,000 characters, five points
and three forbidden claims; one process. `shared` passages are the same for all outputs of a case, as
in a run of several attempts, `fresh` ones are new for every output. The long answers have 200,000
characters each.
"""

from __future__ import annotations

import argparse
import random
import resource
import time
from collections.abc import Callable, Sequence

from aal_engine.measure.answer.counts import judge_answer
from aal_engine.measure.answer.prose import Prose
from aal_engine.measure.answer.source import Sources
from aal_engine.measure.golden import Case, CitationStyle
from aal_engine.measure.point import parse_claim, parse_point
from aal_engine.measure.run import Output, Passage
from aal_engine.measure.text.language import ENGLISH, words
from aal_engine.measure.text.sentence import units

WORDS = sorted(
    words(
        "refund window customer account credit policy order parcel return receipt card bank transfer"
        " support agent review ticket status delay region price fee month year total notice contract"
    )
)
STYLE = CitationStyle()
CASE = Case(
    "case",
    "How long does a refund take?",
    must_mention=tuple(
        map(
            parse_point,
            [
                "refund window",
                {"phrase": "money back", "aliases": ["refund", "reimbursement"]},
                {"any_of": ["bank transfer", "card credit"]},
                {"all_of": ["customer", "receipt"]},
                {"number": 30, "unit": "days"},
            ],
        )
    ),
    must_not_claim=tuple(
        map(
            parse_claim,
            ["guaranteed cure", {"phrase": "no risk", "negation": "allow"}, "never fails"],
        )
    ),
)


def sentence(rng: random.Random) -> str:
    """Return some fifteen words with a number now and then."""
    row = rng.choices(WORDS, k=15)
    row[3] = rng.choice(("is", "takes", "of", "for the"))
    row[7] = rng.choice(("30 days", "the", "with", "and then", "$29.00"))
    return " ".join(row).capitalize()


def prose(rng: random.Random, length: int, markers: int) -> str:
    """Return sentences up to a length, paragraphs and list items among them."""
    text = ""
    place = 0
    while len(text) < length:
        marker = f" [{rng.randint(1, 5)}]" if place < markers else ""
        lead = rng.choice(("", "", "", "\n\n", "\n- ")) if text else ""
        text += f"{lead}{sentence(rng)}{marker}. "
        place += 1
    return text[:length]


def outputs(count: int, length: int, *, fresh: bool) -> list[Output]:
    """Return outputs with five passages each."""
    rng = random.Random(7)
    shown = [Passage(f"d{place}", text=prose(rng, 1000, 0)) for place in range(5)]
    made = []
    for _ in range(count):
        if fresh:
            shown = [Passage(f"d{place}", text=prose(rng, 1000, 0)) for place in range(5)]
        answer = prose(rng, length, 10)
        made.append(Output("case", answer=answer, retrieved=tuple(shown)))
    return made


def best(act: Callable[[Sequence[Output]], object], over: Sequence[Output]) -> float:
    """Return the least CPU seconds of five goes."""
    least = 1e9
    for _ in range(5):
        start = time.process_time()
        act(over)
        least = min(least, time.process_time() - start)
    return least


def main() -> None:
    """Print the rates."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--answers", type=int, default=1000)
    parser.add_argument("--long", type=int, default=100)
    options = parser.parse_args()
    for name, fresh in (("shared passages", False), ("fresh passages", True)):
        made = outputs(options.answers, 2000, fresh=fresh)
        seconds = best(lambda over: [judge_answer(CASE, o, STYLE, "en") for o in over], made)
        print(f"{name:18} {len(made) / seconds:8.0f} answers of 2,000 characters a second")
    seconds = best(
        lambda over: [
            Prose(o.answer or "", Sources(o.retrieved or (), STYLE), ENGLISH) for o in over
        ],
        made,
    )
    size = sum(len(output.answer or "") for output in made)
    proses = [Prose(o.answer or "", Sources(o.retrieved or (), STYLE), ENGLISH) for o in made]
    sentences = best(
        lambda _: [
            units(p.text, p.mask, (), {marker.start for marker in p.markers}, ENGLISH)
            for p in proses
        ],
        made,
    )
    print(f"{'sentences alone':26} {size / sentences / 1e6:.1f} million characters a second")
    print(
        f"{'markers, sentences, tokens':26} {size / seconds / 1e6:.1f} million characters a second"
    )
    peaks = []
    rng = random.Random(9)
    for place in range(options.long):
        answer = prose(rng, 200_000, 10)
        judge_answer(CASE, Output("case", answer=answer, retrieved=()), STYLE, "en")
        if place in (options.long // 4, options.long - 1):
            peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    print(
        f"peak memory {peaks[0]:.0f} MiB after a quarter of {options.long} answers of 200,000"
        f" characters, {peaks[-1]:.0f} MiB after all"
    )


if __name__ == "__main__":
    main()
