"""A tool of the MCP server: it reads, and takes nothing that it does not name."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from mcp.server.mcpserver.exceptions import ToolError
from mcp.server.mcpserver.tools import Tool
from mcp_types import ToolAnnotations

from aal_engine.errors import AalError


def tool(read: Callable[..., Any]) -> Tool:
    """Make a tool that reads, and that refuses arguments which it does not have."""

    @wraps(read)
    def told(**arguments: Any) -> Any:
        try:
            return read(**arguments)
        except AalError as error:
            raise ToolError(str(error)) from None

    made = Tool.from_function(
        told,
        annotations=ToolAnnotations(
            read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        ),
        structured_output=True,
    )
    model = made.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    return made.model_copy(update={"parameters": model.model_json_schema(by_alias=True)})
