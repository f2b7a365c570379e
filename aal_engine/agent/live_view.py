"""What a live run would take and what it took, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from aal_engine.errors import shown

if TYPE_CHECKING:
    from aal_engine.service.cost import Estimate, Totals


def told_estimate(found: Estimate) -> str:
    """Return what would be done; an estimate says that it is one."""
    lines = [f"dry run: nothing was asked of the agent, nothing was written; {found.cases} cases"]
    if found.index is not None:
        size = "" if found.index.count is None else f", {found.index.count} passages"
        model = "" if found.index.model is None else f", {found.index.model}"
        lines.append(f"index: {found.index.name}{size}{model}; {found.searches} searches")
    if found.families:
        names = ", ".join(map(shown, found.families))
        families = "family" if len(found.families) == 1 else f"{len(found.families)} families"
        lines.append(
            f"agent: {found.requests} requests to {families} ({names}), "
            f"{found.finished} finished before"
        )
    if found.tokens_in is not None:
        prompts = f"{found.sampled} prompts of {found.characters} characters on average"
        most = "not known: no max_tokens among the families' parameters"
        if found.tokens_out is not None:
            most = f"{found.tokens_out:,} at most"
        lines.append(
            f"tokens in: {found.tokens_in:,}, an estimate at 4 characters a token from {prompts}"
        )
        lines.append(f"tokens out: {most}")
    return "\n".join(lines) + "\n"


def told_totals(spent: Totals | None) -> str:
    """Return what was asked and spent, nothing where nothing was asked."""
    if spent is None:
        return ""
    failed = ", ".join(f"{count} {word}" for word, count in spent.failures.items())
    lines = [
        f"asked: {spent.answers} answers, {sum(spent.failures.values())} failures"
        + (f" ({failed})" if failed else "")
        + f", {spent.retries} retries"
    ]
    if spent.median is not None:
        lines.append(
            f"time: {spent.seconds:.1f} s of the agent's, median {spent.median:.2f} s, "
            f"95% within {spent.p95:.2f} s"
        )
    if spent.tokens_in is not None or spent.tokens_out is not None:
        lines.append(f"tokens: {spent.tokens_in or 0:,} in, {spent.tokens_out or 0:,} out")
    return "\n".join(lines) + "\n"
