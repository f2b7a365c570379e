import hashlib

import pytest

from aal_engine.errors import InputError
from aal_engine.measure.run import Output, Passage, outputs_digest, run_of


def test_a_run_is_put_in_order_and_digested():
    outputs = [Output("b"), Output("a", 2), Output("a", 1), Output("a", 10)]
    run = run_of("f", reversed(outputs))
    assert [(o.case_id, o.attempt) for o in run.outputs] == [
        ("a", 1),
        ("a", 2),
        ("a", 10),
        ("b", 1),
    ]
    assert run.digest == run_of("f", outputs).digest == outputs_digest(run.outputs)


def test_every_case_that_is_there_twice_is_named():
    outputs = [Output("b", 2), Output("a"), Output("b", 2), Output("a"), Output("b")]
    with pytest.raises(InputError) as caught:
        run_of(None, outputs)
    assert [str(fault) for fault in caught.value.faults] == [
        "case a: attempt 1 is there twice",
        "case b: attempt 2 is there twice",
    ]


def test_the_digest_is_taken_of_bytes_that_others_can_make():
    passage = Passage("d", "p", 1.0, 'a "b"\n\u2028é', None, None)
    output = Output("c", 2, "f", (passage, Passage("e", None, 1e-7)), "x\x07", ("d", 1), 1e21)
    written = (
        '[{"answer":"x\\u0007","attempt":2,"case_id":"c","citations":["d",1],"error":null,'
        '"latency_ms":1e+21,"model_family":"f","retrieved":[{"doc_id":"d","passage_id":"p",'
        '"score":1,"text":"a \\"b\\"\\n\u2028é","title":null,"url":null},{"doc_id":"e",'
        '"passage_id":null,"score":1e-7,"text":null,"title":null,"url":null}]},'
        '{"answer":null,"attempt":1,"case_id":"d","citations":null,"error":null,'
        '"latency_ms":null,"model_family":null,"retrieved":null}]'
    )
    assert outputs_digest([output, Output("d")]) == hashlib.sha256(written.encode()).hexdigest()


@pytest.mark.parametrize("change", [{"attempt": 2}, {"answer": ""}, {"retrieved": ()}])
def test_what_is_not_given_and_what_is_empty_differ(change):
    assert outputs_digest([Output("a")]) != outputs_digest([Output("a", **change)])


def test_texts_stay_out_of_what_is_printed():
    output = Output("a", answer="SECRET", retrieved=(Passage("d", text="SECRET", title="SECRET"),))
    assert "SECRET" not in repr(run_of("f", [output]))
