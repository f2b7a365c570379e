from __future__ import annotations

import json

import pytest

from aal_engine.store import otlp
from aal_engine.store.live_output import UnreadableOutput, read_head, read_output
from aal_engine.store.otlp import SETTLE, TraceReader

TEXT = [{"role": "assistant", "parts": [{"type": "reasoning", "content": "hm"},
                                        {"type": "text", "content": "As said [1]."}]}]  # fmt: skip


def value(found):
    if isinstance(found, list):
        return {"arrayValue": {"values": [value(each) for each in found]}}
    if isinstance(found, dict):
        pairs = [{"key": key, "value": value(each)} for key, each in found.items()]
        return {"kvlistValue": {"values": pairs}}
    if isinstance(found, int):
        return {"intValue": str(found)}
    return {"doubleValue": found} if isinstance(found, float) else {"stringValue": found}


def pairs(told):
    return [{"key": key, "value": value(found)} for key, found in told.items()]


def span(trace="t1", parent="p", end=9, begin=1, events=(), code=None, **told):
    named = {f"gen_ai.{key.replace('__', '.')}": found for key, found in told.items()}
    return {
        "traceId": trace, "spanId": "s", "parentSpanId": parent,
        "startTimeUnixNano": str(begin), "endTimeUnixNano": str(end), "attributes": pairs(named),
        "events": [{"name": "e", "attributes": pairs(each)} for each in events],
        "status": {} if code is None else {"code": code},
    }  # fmt: skip


def request(*spans, **resource) -> bytes:
    attributes = pairs({f"service.{key}": found for key, found in resource.items()})
    group = {"resource": {"attributes": attributes}, "scopeSpans": [{"spans": list(spans)}]}
    return json.dumps({"resourceSpans": [group]}).encode()


def retrieval(documents, **more):
    return span(operation__name="retrieval", retrieval__documents=documents, **more)


def chat(messages=TEXT, **more):
    return span(operation__name="chat", output__messages=messages, **more)


def agent(messages=TEXT, **more):
    named = {"operation__name": "invoke_agent", "output__messages": messages}
    return span(**{"parent": "", **named, **more})


@pytest.mark.parametrize("as_text", [False, True])
def test_a_trace_is_one_output(as_text):
    documents = [{"id": "d1", "score": 0.9}, {"id": "d2", "score": 1}]
    given = (json.dumps(documents), json.dumps(TEXT)) if as_text else (documents, TEXT)
    body = request(retrieval(given[0]), agent(given[1], agent__version="1.4.0", agent__name="desk"))
    (row,) = TraceReader().read(body, 0)
    head = read_head(row)
    assert (head.trace_id, head.version, head.agent) == ("t1", "1.4.0", "desk")
    one = read_output(row, "t1")
    assert one.answer == "As said [1]."
    assert [passage.doc_id for passage in one.retrieved] == ["d1", "d2"]


def test_the_resource_names_what_the_spans_do_not():
    (row,) = TraceReader().read(request(agent(), version="1.0.0", name="desk"), 0)
    assert (read_head(row).version, read_head(row).agent) == ("1.0.0", "desk")


def test_no_retrieval_attribute_is_not_an_empty_list():
    (row,) = TraceReader().read(request(agent(), version="1"), 0)
    assert read_output(row, "t1").retrieved is None
    (row,) = TraceReader().read(request(retrieval([]), agent(), version="1"), 0)
    assert read_output(row, "t1").retrieved == ()


def test_the_spans_of_a_trace_may_come_one_by_one_and_in_any_order():
    reader = TraceReader()
    assert reader.read(request(retrieval([{"id": "b"}], begin=5), version="1"), 0) == []
    assert reader.read(request(retrieval([{"id": "a"}], begin=2)), 1) == []
    assert reader.read(request(chat(), version="1"), 2) == []
    (row,) = reader.read(request(span(parent="")), 3)
    assert [p.doc_id for p in read_output(row, "t1").retrieved] == ["a", "b"]
    assert reader.due(100) == []


def test_a_trace_whose_root_never_comes_is_taken_after_a_while():
    reader = TraceReader()
    assert reader.read(request(chat(), version="1"), 0) == []
    assert reader.due(SETTLE - 0.1) == []
    assert len(reader.due(SETTLE)) == 1


def test_an_agents_answer_goes_before_a_models_and_the_last_before_the_first():
    other = [{"role": "assistant", "parts": [{"type": "text", "content": "draft"}]}]
    body = request(chat(other, end=50), agent(TEXT, end=20), chat(other, end=60), version="1")
    assert read_output(TraceReader().read(body, 0)[0], "t1").answer == "As said [1]."
    body = request(chat(TEXT, end=50), chat(other, end=20), span(parent=""), version="1")
    assert read_output(TraceReader().read(body, 0)[0], "t1").answer == "As said [1]."


def test_the_answer_of_an_agent_that_another_one_asked_is_not_taken_for_the_traces():
    reader = TraceReader()
    draft = [{"role": "assistant", "parts": [{"type": "text", "content": "draft"}]}]
    assert reader.read(request(agent(draft, parent="a", end=20), version="1"), 0) == []
    (row,) = reader.read(request(agent(TEXT, end=60), version="1"), 6)
    assert read_output(row, "t1").answer == "As said [1]."


def test_a_root_that_comes_before_the_answer_loses_nothing_that_was_retrieved():
    reader = TraceReader()
    assert reader.read(request(retrieval([{"id": "a"}]), version="1"), 0) == []
    assert reader.read(request(span(parent=""), version="1"), 1) == []
    (row,) = reader.read(request(chat(), version="1"), 2)
    assert [p.doc_id for p in read_output(row, "t1").retrieved] == ["a"]


def test_events_are_read_too():
    told = {"gen_ai.output.messages": json.dumps(TEXT)}
    body = request(span(parent="", events=[told]), version="1")
    assert read_output(TraceReader().read(body, 0)[0], "t1").answer == "As said [1]."


def test_a_span_that_failed_is_an_output_that_failed():
    (row,) = TraceReader().read(request(agent(code=2), version="1"), 0)
    assert read_output(row, "t1").error is not None


def test_an_answer_without_text_has_none():
    calls = [{"role": "assistant", "parts": [{"type": "tool_call", "name": "x"}]}]
    (row,) = TraceReader().read(request(agent(calls), version="1"), 0)
    assert read_output(row, "t1").answer is None


def test_other_traces_are_no_outputs_and_take_no_room():
    reader = TraceReader()
    other = {"traceId": "x", "parentSpanId": "", "attributes": pairs({"http.route": "/"})}
    assert reader.read(request(other), 0) == []
    assert reader._traces == {}


def test_traces_held_are_bounded(monkeypatch):
    monkeypatch.setattr(otlp, "MOST_HELD", 5)
    reader = TraceReader()
    rows = reader.read(request(*(chat(trace=f"t{n}") for n in range(8)), version="1"), 0)
    assert [read_head(row).trace_id for row in rows] == ["t0", "t1", "t2"]


DEEP = value("x")
for _ in range(40):
    DEEP = {"arrayValue": {"values": [DEEP]}}


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"[]", b"{}", b'{"resourceSpans": 7}', b'{"resourceSpans": [7]}', b"\xff",
        b"[" * 50_000, request({"traceId": 7, "attributes": pairs({"gen_ai.output.messages": []})}),
        request(agent(messages="no json")), request(agent(messages={"role": "x"})),
        request({"traceId": "t", "attributes": [{"key": "gen_ai.output.messages", "value": DEEP}]}),
        request(agent(messages=[7])), request(retrieval(["d1"], begin="x")),
    ],
)  # fmt: skip
def test_what_is_no_request_is_refused_without_quoting_it(body):
    with pytest.raises(UnreadableOutput, match="an output cannot be read: not_otlp"):
        TraceReader().read(body, 0)


def test_a_document_without_an_id_makes_the_output_unreadable_not_uncited():
    (row,) = TraceReader().read(request(retrieval(["d1"]), agent(), version="1"), 0)
    with pytest.raises(UnreadableOutput):
        read_output(row, "t1")
