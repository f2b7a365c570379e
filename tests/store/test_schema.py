import pytest

from aal_engine.store.schema import NAME, conforms
from aal_engine.store.text_file import FaultList
from aal_engine.store.yaml_text import decode_yaml

MARK = "MARKER of a text"


def told(name, value, **where):
    faults = FaultList("a.yaml")
    fits = conforms(name, value, faults, **where)
    assert fits == (not faults.faults)
    return [str(fault) for fault in faults.faults]


def case(**fields):
    return {"id": "c-1", "question": MARK, **fields}


@pytest.mark.parametrize(
    ("value", "fault"),
    [
        (case(question=3), "question: must be text, not a whole number; put it in quotes"),
        (case(question=None), "question: must be text, not null; put it in quotes"),
        (case(question=""), "question: must be more than blanks"),
        (case(question="  "), "question: must be more than blanks"),
        (case(task=MARK), "must be a case with either a question or a task"),
        ({"id": "c-1"}, "must be a case with either a question or a task"),
        ({"question": MARK}, "id: is missing"),
        (case(questoin=MARK), "questoin: is not a known key; did you mean question?"),
        (
            case(zzz=MARK),
            (
                "zzz: is not a known key; known are id, question, task, relevant, must_mention, "
                "must_not_claim, expect, slices"
            ),
        ),
        (
            case(**{MARK: 1}),
            (
                "(not shown): is not a known key; known are id, question, task, relevant, "
                "must_mention, must_not_claim, expect, slices"
            ),
        ),
        (case(relevant={"d": 1.0}), "relevant.d: must be a whole number, written without a point"),
        (case(relevant={"d": True}), "relevant.d: must be a whole number, not true or false"),
        (case(relevant={"d": "1"}), "relevant.d: must be a whole number, not text"),
        (case(relevant={"d": 1001}), "relevant.d: must be at most 1000"),
        (case(relevant={"d": -1001}), "relevant.d: must be at least -1000"),
        (case(relevant={MARK: "1"}), "relevant.(not shown): must be a whole number, not text"),
        (
            case(relevant={MARK + "\n": 1}),
            "relevant: has a key that is not a document id without control characters",
        ),
        (case(relevant=[MARK]), "relevant: must be a mapping, not a list"),
        (case(expect=MARK), "expect: must be one of answer, abstain, nothing"),
        (case(slices=["a", "a"]), "slices: holds the same item twice"),
        (
            case(slices=["a b"]),
            (
                "slices[0]: must be a name: an ASCII letter, digit or underscore, then up to "
                "127 of these and . : + @ / -"
            ),
        ),
        (case(must_mention=[3]), "must_mention[0]: must be text or a mapping"),
        (case(must_mention=[""]), "must_mention[0]: must not be empty"),
        (
            case(must_mention=[{"phrases": MARK}]),
            "must_mention[0].phrases: is not a known key; did you mean phrase?",
        ),
        (
            case(must_mention=[{"phrase": MARK, "regex": MARK}]),
            (
                "must_mention[0]: must be a point with exactly one of phrase, regex, number, date, "
                "all_of, any_of, at_least"
            ),
        ),
        (
            case(must_mention=[{"any_of": [MARK, {"number": MARK}]}]),
            "must_mention[0].any_of[1].number: must be a number, not text",
        ),
        (
            case(must_not_claim=[{"phrase": MARK, "negation": MARK}]),
            "must_not_claim[0].negation: must be one of count, allow",
        ),
        ([MARK], "must be a mapping, not a list"),
        (MARK, "must be a mapping, not text"),
        (object(), "must be a mapping, not a value of another kind"),
    ],
)
def test_a_fault_is_told_in_our_words_and_without_the_value(value, fault):
    found = told("case", value)
    assert f"a.yaml: {fault}" in found
    assert MARK not in "".join(found)
    assert "MARKER" not in "".join(found)


@pytest.mark.parametrize(
    ("id_", "problem"),
    [
        ("", "must not be empty"),
        ("x" * 201, "must have at most 200 characters"),
        (1.5, "must be text or a whole number, not a number; put it in quotes"),
        *(
            (
                id_,
                (
                    "must be an id: no path separators, control characters or blanks at its ends, "
                    "not . or .."
                ),
            )
            for id_ in [
                "a/b",
                "a\\b",
                "a\nb",
                "a\n",
                "\ta",
                " a",
                "a ",
                "\u00a0a",
                ".",
                "..",
                "a\x00",
                "a\x85b",
                "a\u202eb",
                "\ufeffa",
            ]
        ),
    ],
)
def test_ids_that_could_mislead_are_refused(id_, problem):
    assert told("case", case(id=id_)) == [f"a.yaml: id: {problem}"]


@pytest.mark.parametrize("id_", ["a", "...", ".a", "7", 7, "a b", "é", "x" * 200, "質問-1", "a:b"])
def test_other_ids_are_not(id_):
    assert told("case", case(id=id_)) == []


def test_all_faults_are_told_at_once_with_their_lines():
    value = decode_yaml(
        "name: my pack\nagnt: x\nautonomy: 1.0\nsensitivity: public\n"
        "suites:\n  a:\n    file: ../x.jsonl\n    kinds: [answer]\n  b: {}\n",
        FaultList("a.yaml"),
    )
    assert set(told("pack", value)) == {
        "a.yaml:1: agent: is missing",
        (
            "a.yaml:1: name: must be a name: an ASCII letter, digit or underscore, then up to "
            "127 of these and . : + @ / -"
        ),
        "a.yaml:2: agnt: is not a known key; did you mean agent?",
        "a.yaml:3: autonomy: must be a whole number, written without a point",
        (
            "a.yaml:7: suites.a.file: must be the name of a .jsonl or .yaml file in the pack's own "
            "folder"
        ),
        "a.yaml:8: suites.a.kinds[0]: must be one of retrieval, answers",
        "a.yaml:9: suites.b.file: is missing",
    }


def test_a_line_and_a_case_that_the_caller_knows_are_used():
    assert told("case", {"id": "c"}, line=7, case="c") == [
        "a.yaml:7: case c: must be a case with either a question or a task"
    ]


def test_the_pattern_of_names_means_the_whole_name():
    assert NAME.fullmatch("gpt-4o")
    assert not NAME.match("gpt\n")
