import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from aal_engine.errors import InputError
from aal_engine.measure.golden import CitationStyle, Suite
from aal_engine.measure.metric import DEFAULT_RETRIEVAL_METRICS
from aal_engine.measure.point import parse_claim, parse_point
from aal_engine.store.golden import inspect_pack, load_golden, load_pack, warnings

MARK = "MARKER"
PACK = """\
# the pack of the help desk
name: desk
agent: did:web:desk
autonomy: 1
sensitivity: internal
suites:
  core: {file: core.jsonl}
"""
CASES = (
    {"id": "b", "question": f"{MARK} one?", "relevant": {"d1": 2, "d2": 0}, "slices": ["fr"]},
    {
        "id": "a",
        "task": f"{MARK} two",
        "relevant": {"d3": 1},
        "must_mention": ["30 days", {"number": 5, "unit": "USD"}],
        "must_not_claim": [{"phrase": "guaranteed", "negation": "allow"}],
    },
    {"id": "c", "question": f"{MARK} three?", "expect": "abstain"},
)


CANONICAL = (
    '[{"expect":"answer","id":"a","must_mention":[{"aliases":[],"negated":"ignore","phrase":'
    '"30 days"},{"negated":"ignore","number":5,"relative":0,"tolerance":0,"unit":"USD"}],'
    '"must_not_claim":[{"aliases":[],"negated":"count","negation":"allow","phrase":"guaranteed",'
    '"quotation":"count"}],"question":"MARKER two","relevant":{"d3":1},"slices":[]},'
    '{"expect":"answer","id":"b","must_mention":[],"must_not_claim":[],"question":"MARKER one?",'
    '"relevant":{"d1":2,"d2":0},"slices":["fr"]},'
    '{"expect":"abstain","id":"c","must_mention":[],"must_not_claim":[],"question":"MARKER three?",'
    '"relevant":{},"slices":[]}]'
)


def jsonl(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


@pytest.fixture
def pack(tmp_path):
    """A pack in a folder whose name is marked; text files replace its own."""

    def make(declaration=PACK, **files: str) -> Path:
        folder = tmp_path / MARK
        folder.mkdir(exist_ok=True)
        (folder / "pack.yaml").write_text(declaration)
        for name, text in ({"core_jsonl": jsonl(CASES)} | files).items():
            (folder / name.replace("_", ".")).write_text(text)
        return folder

    return make


def faults(folder) -> list[str]:
    """The faults of a pack's suite `core`, in which no text and no folder may appear."""
    with pytest.raises(InputError) as caught:
        load_golden(folder, "core")
    assert MARK not in str(caught.value)
    assert caught.value.__cause__ is None
    return [str(fault) for fault in caught.value.faults]


def case_faults(pack, *rows) -> list[str]:
    return faults(pack(core_jsonl=jsonl(rows)))


def question(id_="x", **fields):
    return {"id": id_, "question": f"{MARK}?", "relevant": {"d": 1}, **fields}


def test_a_pack_is_read(pack):
    read = load_pack(pack())
    assert (read.name, read.agent, read.autonomy, read.sensitivity) == (
        "desk",
        "did:web:desk",
        1,
        "internal",
    )
    assert (read.language, read.citations, read.stop_rules) == ("en", CitationStyle("index", 1), ())
    assert read.suites == {
        "core": Suite("core", "core.jsonl", ("retrieval", "answers"), DEFAULT_RETRIEVAL_METRICS)
    }
    assert load_pack(pack() / "pack.yaml") == read


def test_cases_come_in_the_order_of_their_ids_with_points_read(pack):
    golden = load_golden(pack(), "core")
    assert [case.id for case in golden.cases] == ["a", "b", "c"]
    first = golden.by_id["a"]
    assert first.question == f"{MARK} two"
    assert first.must_mention == (
        parse_point("30 days"),
        parse_point({"number": 5, "unit": "USD"}),
    )
    assert first.must_not_claim == (parse_claim({"phrase": "guaranteed", "negation": "allow"}),)
    assert golden.by_id["b"].relevant == {"d1": 2, "d2": 0}
    assert golden.by_id["b"].slices == ("fr",)
    assert golden.by_id["c"].expect == "abstain"


def test_a_declared_pack_is_read_in_full(pack):
    declaration = PACK + (
        "language: pt-BR\n"
        "citations: {mode: id, base: 0}\n"
        "stop_rules:\n"
        "  - {id: promise, forbid: {phrase: guaranteed returns}}\n"
        "  - {id: disclaimer, require: not legal advice}\n"
    )
    declaration = declaration.replace(
        "{file: core.jsonl}", "{file: core.jsonl, kinds: [answers, retrieval], metrics: [mrr@5]}"
    )
    read = load_pack(pack(declaration))
    assert read.language == "pt-BR"
    assert read.citations == CitationStyle("id", 0)
    assert [rule["id"] for rule in read.stop_rules] == ["promise", "disclaimer"]
    assert read.suites["core"].kinds == ("retrieval", "answers")
    assert read.suites["core"].metrics == ("mrr@5",)


def test_a_suite_of_answers_alone_has_no_retrieval_metrics(pack):
    declaration = PACK.replace("{file: core.jsonl}", "{file: core.jsonl, kinds: [answers]}")
    assert load_pack(pack(declaration)).suites["core"].metrics == ()


@given(order=st.permutations(CASES), form=st.sampled_from(["jsonl", "spaced", "yaml", "flow"]))
def test_the_digest_knows_neither_order_nor_format_nor_comments(tmp_path_factory, order, form):
    folder = tmp_path_factory.mktemp("pack")
    name = "core.jsonl" if form in ("jsonl", "spaced") else "core.yaml"
    text = {
        "jsonl": jsonl(order),
        "spaced": "\ufeff" + "\r\n\r\n".join(json.dumps(row, indent=None) for row in order),
        "yaml": "# a comment\n" + yaml.safe_dump([*order]),
        "flow": json.dumps(order),
    }[form]
    (folder / "pack.yaml").write_text(PACK.replace("core.jsonl", name))
    (folder / name).write_text(text, encoding="utf-8")
    assert load_golden(folder, "core").digest == hashlib.sha256(CANONICAL.encode()).hexdigest()


def test_whole_numbers_may_be_ids_and_stand_for_their_text(pack):
    rows = "- {id: 7, question: q, relevant: {184: 2, 007: 1}}\n- {id: 007, question: q}\n"
    golden = load_golden(pack(PACK.replace("jsonl", "yaml"), core_yaml=rows), "core")
    assert [case.id for case in golden.cases] == ["007", "7"]
    assert golden.by_id["7"].relevant == {"184": 2, "007": 1}


def test_what_yaml_would_guess_is_text_or_told(pack):
    rows = (
        "- {id: no, question: off}\n- {id: 2026-01-31, question: 12:30}\n- {id: 1e3, question: q}\n"
        "- {id: y, question: 5}\n- {id: true, question: q}\n"
    )
    assert faults(pack(PACK.replace("jsonl", "yaml"), core_yaml=rows)) == [
        "core.yaml:3: id: must be text or a whole number, not a number; put it in quotes",
        "core.yaml:4: case y: question: must be text, not a whole number; put it in quotes",
        "core.yaml:5: id: must be text or a whole number, not true or false; put it in quotes",
    ]


def test_every_fault_of_a_file_is_told_at_once(pack):
    found = case_faults(
        pack,
        question("a"),
        question("a", must_mention=[{"regex": f"({MARK}"}, f"{MARK} ok", {"regex": "x*"}]),
        {"id": "b", "questoin": MARK, "must_mention": ["...", {"phrase": 3}]},
        question("c", relevant={"d": 1.0, "e": True, "f": 2}),
        question("d/e"),
        question("f", must_not_claim=[{"date": "2026-02-30"}]),
        question(unicode := "e\u0301"),
        [MARK],
    )
    assert found == [
        "core.jsonl:2: case a: must_mention[0].regex: is not an RE2 expression",
        "core.jsonl:2: case a: must_mention[2].regex: matches the empty string",
        "core.jsonl:2: case a: id: is the id of line 1 too",
        "core.jsonl:3: case b: questoin: is not a known key; did you mean question?",
        "core.jsonl:3: case b: must be a case with either a question or a task",
        (
            "core.jsonl:3: case b: must_mention[1].phrase: must be text, not a whole number; "
            "put it in quotes"
        ),
        (
            "core.jsonl:3: case b: must_mention[0].phrase: has no word, number or currency sign to "
            "look for"
        ),
        "core.jsonl:4: case c: relevant.d: must be a whole number, written without a point",
        "core.jsonl:4: case c: relevant.e: must be a whole number, not true or false",
        (
            "core.jsonl:5: id: must be an id: no path separators, control characters or blanks at its "
            "ends, not . or .."
        ),
        (
            "core.jsonl:6: case f: must_not_claim[0].date: must be a date of the calendar: YYYY-MM-DD, "
            "YYYY-MM or YYYY"
        ),
        (
            f"core.jsonl:7: case {unicode}: id: is not in Unicode's form NFC: another id may look the "
            "same"
        ),
        "core.jsonl:8: must be a mapping, not a list",
    ]


def test_yaml_faults_have_the_line_of_their_field(pack):
    rows = (
        "- id: a\n  question: q\n  must_mention:\n    - ok\n    - phrase: '...'\n"
        "- id: b\n  question: q\n  relevant:\n    d1: 1\n    d2: 0.5\n    d1: 2\n"
    )
    assert faults(pack(PACK.replace("jsonl", "yaml"), core_yaml=rows)) == [
        "core.yaml:11: has the key d1 twice, first on line 9",
        (
            "core.yaml:5: case a: must_mention[1].phrase: has no word, number or currency sign to "
            "look for"
        ),
        "core.yaml:10: case b: relevant.d2: must be a whole number, written without a point",
    ]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "core.jsonl: holds no case"),
        ("\n\n", "core.jsonl: holds no case"),
        (f'{{"id": "a", "question": "{MARK}', "core.jsonl:1: ends before its JSON value is comple"),
        (f'{{"id": "a", "id": "{MARK}"}}', "core.jsonl:1: has the key id twice in one object"),
        (f'{{"id": "a", "x": NaN, "y": "{MARK}"}}', "core.jsonl:1: holds NaN or an infinity, whic"),
    ],
)
def test_files_that_hold_no_set_are_told(pack, text, fault):
    assert [found[: len(fault)] for found in faults(pack(core_jsonl=text))] == [fault]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "core.yaml:1: must be a list of cases"),
        ("a: 1", "core.yaml:1: must be a list of cases"),
        ("[]", "core.yaml: holds no case"),
        ("- " + "[" * 70 + "]" * 70, "core.yaml:1: is nested deeper than 64 levels"),
    ],
)
def test_yaml_that_holds_no_set_is_told(pack, text, fault):
    assert faults(pack(PACK.replace("jsonl", "yaml"), core_yaml=text)) == [fault]


def test_points_nested_without_end_are_told(pack):
    point: object = "x"
    for _ in range(20):
        point = {"all_of": [point]}
    (found,) = case_faults(pack, question(must_mention=[point]))
    assert found.startswith("core.jsonl:1: case x: must_mention[0]")
    assert "nested" in found


@pytest.mark.parametrize(
    ("declaration", "fault"),
    [
        ("", "pack.yaml: must be a mapping, not null"),
        ("- a", "pack.yaml:1: must be a mapping, not a list"),
        (PACK.replace("internal", MARK), "pack.yaml:5: sensitivity: must be one of public, "),
        (PACK + "floors: off\n", "pack.yaml:8: floors: is not a known key; known are name, "),
        (PACK.replace("core.jsonl", "../x.jsonl"), "pack.yaml:7: suites.core.file: must be the na"),
        (PACK.replace("core.jsonl", "/x.jsonl"), "pack.yaml:7: suites.core.file: must be the name"),
        (PACK.replace("jsonl}", "jsonl, metrics: [recal@10]}"), "pack.yaml:7: suites.core.metrics"),
        (PACK.replace("jsonl}", "jsonl, metrics: [grounded]}"), "pack.yaml:7: suites.core.metrics"),
        (
            PACK.replace("jsonl}", "jsonl, kinds: [answers], metrics: [mrr]}"),
            "pack.yaml:7: suites.core.metrics: names retrieval metrics, but the suite is not of ki",
        ),
        (
            PACK + f"stop_rules:\n  - {{id: a, forbid: {{regex: '({MARK}'}}}}\n",
            "pack.yaml:9: stop_rules[0].forbid.regex: is not an RE2 expression",
        ),
        (
            PACK + "stop_rules:\n  - {id: a, forbid: x, require: y}\n",
            "pack.yaml:9: stop_rules[0]: must be a rule with one of forbid, require an",
        ),
    ],
)
def test_a_wrong_declaration_is_told(pack, declaration, fault):
    assert [found[: len(fault)] for found in faults(pack(declaration))] == [fault]


def test_missing_things_are_told(pack, tmp_path):
    with pytest.raises(InputError) as caught:
        load_pack(tmp_path / MARK / "nowhere")
    assert str(caught.value) == (
        "pack.yaml: no such file\n"
        "  a pack is a folder with pack.yaml and the files of cases that it names"
    )
    folder = pack()
    with pytest.raises(InputError) as caught:
        load_golden(folder, "cor")
    assert str(caught.value) == (
        "pack.yaml: has no suite cor; did you mean core?\n  its suites: core"
    )
    (folder / "core.jsonl").unlink()
    assert faults(folder) == ["core.jsonl: no such file"]
    (folder / "core.jsonl").mkdir()
    assert faults(folder) == ["core.jsonl: is a folder where a file is needed"]


def test_a_case_with_nothing_to_find_is_a_warning_that_names_it(pack):
    rows = [
        question("a", relevant={}),
        question("b", relevant={"d": 0, "e": -1}),
        question("c", relevant={}, expect="nothing"),
        question("d", relevant={}, expect="abstain"),
        question("e"),
    ]
    folder = pack(core_jsonl=jsonl(rows))
    found = warnings(load_golden(folder, "core"))
    assert [(doubt.file, doubt.case, doubt.field) for doubt in found] == [
        ("core.jsonl", "a", "relevant"),
        ("core.jsonl", "b", "relevant"),
    ]
    assert inspect_pack(folder).warnings == found
    answers = PACK.replace("jsonl}", "jsonl, kinds: [answers]}")
    assert inspect_pack(pack(answers, core_jsonl=jsonl(rows))).warnings == ()


def test_a_look_through_a_pack_tells_the_faults_of_all_its_files(pack):
    declaration = PACK + "  more: {file: more.jsonl}\n  again: {file: more.jsonl}\n"
    found = inspect_pack(pack(declaration, more_jsonl=jsonl([question(), question()])))
    assert found.pack is not None
    assert set(found.sets) == {"core"}
    assert [str(fault) for fault in found.faults] == [
        "more.jsonl:2: case x: id: is the id of line 1 too"
    ]
    broken = inspect_pack(pack("a: ["))
    assert (broken.pack, broken.sets, len(broken.faults)) == (None, {}, 1)


def test_a_file_full_of_faults_is_not_read_to_its_end(pack):
    assert len(case_faults(pack, *[{"id": "x"}] * 3000)) <= 1001


def test_a_good_pack_needs_no_schema_library(pack):
    code = (
        "import sys; from pathlib import Path; from aal_engine.store.golden import load_golden\n"
        "load_golden(Path(sys.argv[1]), 'core'); print('jsonschema' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, pack()], capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
