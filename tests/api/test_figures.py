"""What /metrics says of a ledger."""

from __future__ import annotations

from api.scene import Scene
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from aal_engine.api.app import create_app
from aal_engine.api.evals import results_wing
from aal_engine.service.results import Results


def figures(folder):
    with TestClient(create_app([results_wing(Results(folder), None)])) as client:
        text = client.get("/metrics").text
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_a_ledger_in_figures(tmp_path):
    assert figures(tmp_path / "none") == {("aal_ledger_readable",): 1, ("aal_ledger_entries",): 0}
    scene = Scene(tmp_path / "ledger")
    scene.decide("1.0.0")
    scene.decide('odd"\\name', agent="b", families=("claude",))
    found = figures(scene.folder)
    assert found["aal_ledger_entries",] == 3
    assert found["aal_halted", "desk", "support"] == 0
    named = sorted(("desk", "support", "1.0.0", "gpt", "core", "retrieval", "ndcg@10"))
    assert found["aal_release_metric", *named] == 0.7
    assert any('odd"\\name' in name for name in found)


def test_a_ledger_that_cannot_be_read_is_a_figure_and_no_error(tmp_path):
    scene = Scene(tmp_path / "ledger")
    scene.decide("1.0.0")
    (log,) = (scene.folder / "log").glob("*.jsonl")
    log.write_bytes(b"x" + log.read_bytes()[1:])
    assert figures(scene.folder) == {("aal_ledger_readable",): 0}
