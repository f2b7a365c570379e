"""The digests of a golden set and of its cases."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from aal_engine.canonical import digest
from aal_engine.measure.golden import Case, CitationStyle, GoldenSet, Pack, Suite

SUITE = Suite("core", "core.jsonl", ("retrieval",), ("map",))
PACK = Pack("p", "a", 0, "public", CitationStyle(), "en", (), {"core": SUITE})
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)


@given(
    st.lists(st.builds(Case, TEXTS, TEXTS, st.dictionaries(TEXTS, st.integers(-2, 2), max_size=3)))
)
def test_they_are_taken_of_the_canonical_form(cases):
    golden = GoldenSet(PACK, SUITE, tuple(cases))
    assert golden.digest == digest([case.canonical() for case in cases])
    assert golden.case_digests == tuple(case.digest() for case in cases)
