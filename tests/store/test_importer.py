import gzip
import json
import os
from pathlib import Path

import pytest

from aal_engine.errors import InputError, WriteError
from aal_engine.measure.point import parse_point
from aal_engine.store.golden import inspect_pack, load_golden, load_pack
from aal_engine.store.importer import import_beir, import_nuggets, import_trec
from aal_engine.store.new_pack import Declaration
from aal_engine.store.qrels import reversed_grades

MARK = "MARKER"
DECLARED = Declaration("mine", "did:web:mine", 2, "public", "en")
QRELS = "1 0 d1 2\n1 0 d2 -1\n2 0 d1 0\n"
SMART = f".I 001\n.W\n{MARK} first\nquestion\n.A\nnobody\n.I 002\n.W\nsecond & last\n.I 003\n.W\n"
TREC = (
    "<top>\n<num> Number: 1\n<title> first &amp;\n question\n<desc> Description:\nlong\n</top>\n"
    "<top>\n<num>2</num>\n<title></title>\n<desc> Description: second\n<narr> more\n</top>\n"
)
DOCS = (
    "<DOC>\n<DOCNO> 1 </DOCNO>\n\n first &amp;\nquestion\n</DOC>\n<DOC><DOCNO>2</DOCNO>second</DOC>"
)
XML = (
    '<?xml version="1.0"?><topics task="x"><topic number="1"><query>first &amp; question</query>'
    '<question>longer</question></topic><topic number="2">second</topic></topics>'
)
JSONL = '{"_id": "1", "text": "first & question", "metadata": {}}\n{"id": 2, "title": "second"}\n'
TABBED = "1\tfirst & question\n2\tsecond\n\n3\tunjudged\n"


@pytest.fixture
def put(tmp_path):
    def write(name: str, data: str | bytes) -> Path:
        path = tmp_path / MARK / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    return write


@pytest.fixture
def out(tmp_path):
    return tmp_path / MARK / "golden_sets" / "mine"


def left(out: Path) -> list[str]:
    return sorted(path.name for path in out.parent.iterdir()) if out.parent.exists() else []


def faults(act) -> list[str]:
    with pytest.raises(InputError) as caught:
        act()
    assert MARK not in str(caught.value)
    return [str(fault) for fault in caught.value.faults]


@pytest.mark.parametrize(
    "topics", [TREC, DOCS, XML, JSONL, TABBED], ids=["trec", "doc", "xml", "json", "tab"]
)
@pytest.mark.parametrize("packed", [False, True])
def test_topics_of_every_form_make_the_same_pack(put, out, topics, packed):
    data = topics.encode()
    made = import_trec(
        out,
        DECLARED,
        qrels=put("qrels", "# a comment\n" + QRELS),
        topics=put("topics", gzip.compress(data) if packed else data),
    )
    assert [(c.id, c.question, dict(c.relevant)) for c in made.golden.cases] == [
        ("1", "first & question", {"d1": 2, "d2": -1}),
        ("2", "second", {"d1": 0}),
    ]
    assert made.left_out == (1 if topics is TABBED else 0)


def test_smart_topics_number_by_id_or_by_position(put, out):
    topics = put("topics", SMART.replace("\n", "\r\n"))
    assert faults(
        lambda: import_trec(out, DECLARED, qrels=put("qrels", "1 0 d 1\n"), topics=topics)
    ) == ["topics: case 1: is judged, but has no topic with a text"]
    made = import_trec(
        out, DECLARED, qrels=put("qrels", "1 d1 1\n2 d1 1\n"), topics=topics, by_position=True
    )
    assert {case.id: case.question for case in made.golden.cases} == {
        "1": f"{MARK} first question",
        "2": "second & last",
    }


def test_the_pack_that_is_made_is_declared_and_valid(put, out):
    made = import_trec(out, DECLARED, qrels=put("qrels", QRELS), topics=put("topics", TABBED))
    pack = load_pack(out)
    assert (pack.name, pack.agent, pack.autonomy) == ("mine", "did:web:mine", 2)
    assert (pack.sensitivity, pack.language) == ("public", "en")
    assert pack.suites["main"].kinds == ("retrieval",)
    assert load_golden(out, "main") == made.golden
    found = inspect_pack(out)
    assert (found.faults, [doubt.case for doubt in found.warnings]) == ((), ["2"])
    assert sorted(path.name for path in out.iterdir()) == ["cases.jsonl", "pack.yaml"]
    assert left(out) == ["mine"]


def test_a_scale_whose_best_grade_is_1_is_turned_round(put, out):
    made = import_trec(
        out,
        DECLARED,
        qrels=put("qrels", "1 a 1\n1 b 4\n1 c -1\n1 d 5\n1 e 0\n"),
        topics=put("topics", TABBED),
        grade=reversed_grades(4),
    )
    assert made.golden.by_id["1"].relevant == {"a": 4, "b": 1, "c": 0, "d": 0, "e": 0}


@pytest.mark.parametrize(
    ("qrels", "found"),
    [
        ("", ["qrels: holds no judgment"]),
        (
            "1 0 d1 1\n1 0 d1 1\n1 0 d1 2\n",
            ["qrels:3: case 1: judges a document again, with anoth"],
        ),
        (
            f"1 0 {MARK} 1.0\n1 0 d x\n1 0\n1 0 d 1001\na/b 0 d 1\n",
            [
                "qrels:1: case 1: has a grade that is not a whole number up to 1000",
                "qrels:2: case 1: has a grade that is not a whole number up to 1000",
                "qrels:3: has 2 columns where qrels have 4 or 3",
                "qrels:4: case 1: has a grade that is not a whole number up to 1000",
                "qrels:5: has a query id that cannot be a case id",
            ],
        ),
        (
            f"1 0 d\x00{MARK} 1\n",
            ["qrels:1: case 1: has a document id that cannot be one"],
        ),
    ],
)
def test_wrong_qrels_are_told_and_nothing_is_made(put, out, qrels, found):
    told = faults(
        lambda: import_trec(out, DECLARED, qrels=put("qrels", qrels), topics=put("topics", TABBED))
    )
    assert [fault[: len(want)] for fault, want in zip(told, found, strict=True)] == found
    assert left(out) == []


@pytest.mark.parametrize(
    ("topics", "found"),
    [
        ("", "topics: holds no topic in a form that is known"),
        (f"1 {MARK}\n", "topics:1: has no tab between an id and a text"),
        (f"1\t{MARK}\n1\t{MARK}s\n", "topics:2: case 1: is the id of line 1 too"),
        (f"a/b\t{MARK}\n", "topics:1: has a topic id that cannot be a case id"),
        (f'{{"id": 1, "text": "{MARK}\n', "topics:1: ends before its JSON value is complete"),
        ('{"id": 1, "text": "a"}\n[1]\n', "topics:2: must be a mapping"),
        ("<top><title>x</top>", "topics:1: has a topic id that cannot be a case id"),
        ("2\tsecond\n", "topics: case 1: is judged, but has no topic with a text"),
        (b"1\t\xff", "topics:1: is not UTF-8 text"),
    ],
)
def test_wrong_topics_are_told(put, out, topics, found):
    told = faults(
        lambda: import_trec(out, DECLARED, qrels=put("qrels", QRELS), topics=put("topics", topics))
    )
    assert found in told
    assert left(out) == []


def test_nothing_that_is_there_is_written_over(put, out):
    arguments = {"qrels": put("qrels", QRELS), "topics": put("topics", TABBED)}
    for make in (lambda: out.mkdir(parents=True), lambda: (out.rmdir(), out.symlink_to("x"))):
        make()
        assert faults(lambda: import_trec(out, DECLARED, **arguments)) == [
            "mine: is there already; an import makes a new pack"
        ]
        assert left(out) == ["mine"]


def test_a_pack_that_would_not_be_valid_is_not_made(put, out):
    told = faults(
        lambda: import_trec(
            out,
            Declaration("my pack", "a", 0, "public", "english"),
            qrels=put("qrels", QRELS),
            topics=put("topics", TABBED),
        )
    )
    assert [fault.partition(" must")[0] for fault in told] == [
        "pack.yaml:2: name:",
        "pack.yaml:6: language:",
    ]
    assert left(out) == []


@pytest.mark.parametrize("failing", ["fsync", "rename"])
def test_a_disk_that_fails_leaves_nothing(put, out, monkeypatch, failing):
    def fail(*_, **__):
        raise OSError(28, "No space left on device", f"/{MARK}/x")

    monkeypatch.setattr(*((os, "fsync") if failing == "fsync" else (Path, "rename")), fail)
    with pytest.raises(WriteError) as caught:
        import_trec(out, DECLARED, qrels=put("qrels", QRELS), topics=put("topics", TABBED))
    assert str(caught.value) == "mine was not written: No space left on device"
    assert left(out) == []


def test_an_interruption_leaves_nothing(put, out, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", interrupt)
    with pytest.raises(KeyboardInterrupt):
        import_trec(out, DECLARED, qrels=put("qrels", QRELS), topics=put("topics", TABBED))
    assert left(out) == []


# BEIR


def test_a_beir_folder_is_imported(put, out):
    put("beir/queries.jsonl", JSONL + '{"_id": "3", "text": "unjudged"}\n')
    put("beir/qrels/test.tsv", "query-id\tcorpus-id\tscore\n1\tdoc one\t2\n2\td\t0\n")
    folder = put("beir/qrels/dev.tsv", "1\td\t1\n").parent.parent
    made = import_beir(out, DECLARED, folder=folder)
    assert {case.id: dict(case.relevant) for case in made.golden.cases} == {
        "1": {"doc one": 2},
        "2": {"d": 0},
    }
    assert made.left_out == 1
    dev = import_beir(out.with_name("dev"), DECLARED, folder=folder, split="dev")
    assert [case.id for case in dev.golden.cases] == ["1"]
    assert faults(lambda: import_beir(out, DECLARED, folder=folder, split="train")) == [
        "train.tsv: no such file"
    ]
    put("beir/qrels/dev.tsv", "query-id\tcorpus-id\tscore\n1\td\t1.0\n1 d 1\n")
    assert faults(lambda: import_beir(out, DECLARED, folder=folder, split="dev")) == [
        "dev.tsv:2: case 1: has a grade that is not a whole number up to 1000",
        "dev.tsv:3: has not the three columns of BEIR, apart by tabs",
    ]


# Nuggets


def nugget(text, importance="vital"):
    return {"text": text, "importance": importance, "mapped_sub_narrative": f'"{MARK}"'}


NUGGETS = [
    {"qid": 58, "nuggets": [nugget("emits little carbon"), nugget("is old", "okay")]},
    {"qid": "9", "query": "own query", "nuggets": [nugget("only okay", "okay")], "more": 1},
]


def jsonl(rows) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def test_vital_nuggets_become_required_points(put, out):
    made = import_nuggets(
        out,
        DECLARED,
        nuggets=put("nuggets", jsonl(NUGGETS)),
        topics=put("topics", "58\tquestion 58\n9\tother\n77\tunjudged\n"),
    )
    assert made.golden.suite.kinds == ("answers",)
    assert [(c.id, c.question, c.must_mention) for c in made.golden.cases] == [
        ("58", "question 58", (parse_point("emits little carbon"),)),
        ("9", "own query", ()),
    ]
    assert made.left_out == 1


def test_nuggets_with_qrels_serve_both_kinds(put, out):
    made = import_nuggets(
        out,
        DECLARED,
        nuggets=put("nuggets", jsonl(NUGGETS[1:])),
        qrels=put("qrels", "9 0 d 3\n10 0 d 1\n"),
    )
    assert made.golden.suite.kinds == ("retrieval", "answers")
    assert [dict(case.relevant) for case in made.golden.cases] == [{"d": 3}]
    assert made.left_out == 1


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ([], "nuggets: holds no nuggets"),
        (NUGGETS[:1], "nuggets:1: case 58: has no query, and no topic of its id"),
        ([NUGGETS[1]] * 2, "nuggets:2: case 9: has nuggets on an earlier line too"),
        ([{"query": MARK, "nuggets": []}], "nuggets:1: has no usable qid"),
        (
            [{"qid": 1, "nuggets": [{"text": MARK, "importance": MARK}]}],
            "nuggets:1: case 1: nuggets[0].importance: must be one of vital, okay",
        ),
        (
            [{"qid": 1, "query": "q", "nuggets": [nugget("...")]}],
            (
                "cases.jsonl:1: case 1: must_mention[0].phrase: has no word, number or currency sign to "
                "look for"
            ),
        ),
    ],
)
def test_wrong_nuggets_are_told(put, out, rows, found):
    nuggets = put("nuggets", jsonl(rows))
    assert faults(lambda: import_nuggets(out, DECLARED, nuggets=nuggets)) == [found]
    assert left(out) == []


def test_nuggets_that_are_no_json_lines_are_told(put, out):
    nuggets = put("nuggets", f'{{"qid": 1, "query": "{MARK}\n["{MARK}"]\n')
    assert faults(lambda: import_nuggets(out, DECLARED, nuggets=nuggets)) == [
        "nuggets:1: ends before its JSON value is complete",
        "nuggets:2: must be a mapping, not a list",
    ]


# Real collections


def test_cranfield_is_imported(shared, out):
    folder = shared / "data" / "ir" / "cranfield"
    made = import_trec(
        out,
        DECLARED,
        qrels=folder / "cranqrel",
        topics=folder / "cran.qry",
        grade=reversed_grades(4),
        by_position=True,
    )
    cases = made.golden.by_id
    assert (len(cases), made.left_out) == (225, 0)
    assert cases["1"].question.startswith("what similarity laws must be obeyed")
    assert cases["3"].question.startswith("what problems of heat conduction in composite slabs")
    grades = [grade for case in cases.values() for grade in case.relevant.values()]
    written = [line.split()[2] for line in (folder / "cranqrel").read_text().splitlines()]
    assert {grade: grades.count(grade) for grade in (4, 3, 2, 1, 0)} == {
        4: written.count("1"),
        3: written.count("2"),
        2: written.count("3"),
        1: written.count("4"),
        0: written.count("-1"),
    }
    assert inspect_pack(out).faults == ()


def test_cacm_is_imported_alike_from_both_of_its_forms(shared, tmp_path):
    folder = shared / "data" / "ir" / "cacm"
    trec, smart = (
        import_trec(
            tmp_path / name.replace(".", "-"),
            DECLARED,
            qrels=folder / "qrels.cacm.txt",
            topics=folder / name,
        )
        for name in ("topics.cacm.txt", "query.text")
    )
    assert (len(trec.golden.cases), trec.left_out) == (52, 12)
    assert [c.relevant for c in trec.golden.cases] == [c.relevant for c in smart.golden.cases]
    same = sum(
        one.question == other.question
        for one, other in zip(trec.golden.cases, smart.golden.cases, strict=True)
    )
    # The TREC form adds the authors' names to some topics.
    assert same == 45
