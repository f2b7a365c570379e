"""The API holds to its own OpenAPI document, whatever is asked of it."""

from __future__ import annotations

from itertools import product

import pytest
import schemathesis
from api.scene import Scene
from hypothesis import given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from aal_engine.api.app import create_app
from aal_engine.api.evals import results_wing
from aal_engine.service.results import Results

CHECKS = [
    not_a_server_error,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
]


@pytest.fixture(scope="module")
def contract(tmp_path_factory):
    """The document of an app that reads a ledger with decisions of both kinds."""
    scene = Scene(tmp_path_factory.mktemp("contract") / "ledger")
    scene.decide("1.0.0")
    scene.decide("1.1.0", worse=True)
    app = create_app([results_wing(Results(scene.folder), None)])
    return schemathesis.openapi.from_asgi("/openapi.json", app)


def test_no_request_gets_what_the_document_does_not_say(contract):
    operations = [operation.ok() for operation in contract.get_all_operations()]
    assert len(operations) >= 6
    for operation, mode in product(operations, GenerationMode):
        if mode is GenerationMode.NEGATIVE and not list(operation.iter_parameters()):
            continue

        @settings(max_examples=25, deadline=None, derandomize=True, database=None)
        @given(case=operation.as_strategy(generation_mode=mode))
        def holds(case):
            case.call_and_validate(checks=CHECKS)

        holds()
