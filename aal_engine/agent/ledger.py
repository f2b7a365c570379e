"""`aal ledger`: start, verify and read the release ledger."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated, Literal

import typer

from aal_engine.agent import ledger_git, ledger_proof, ledger_sign, ledger_timestamp
from aal_engine.agent.terminal import run as run_door
from aal_engine.agent.terminal import say, tell
from aal_engine.canonical import JSON
from aal_engine.decide.entry import KINDS, Entry
from aal_engine.decide.ledger import DEFAULT_ORIGIN
from aal_engine.errors import ChainBroken, file_name
from aal_engine.service import ledger as act
from aal_engine.service.clock import moment
from aal_engine.service.signing import public_key

EXITS = {
    0: "verified",
    2: "the call cannot be used",
    3: "an entry was changed, removed, added or moved, or the ledger cannot be read",
    4: "entries hold, but a torn tail or entries that no signed checkpoint covers follow",
    5: "no trusted key vouches for the ledger",
}
"""What `aal ledger verify` exits with."""

TOLD = ("step", "origin", "agent", "pack", "version", "verdict", "check", "why", "reason")
"""Members of a body that `show` tells in a line, where they are there."""

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Start, sign, verify and read the release ledger.",
)

Folder = Annotated[Path, typer.Option("--ledger", help="The ledger's folder.")]
Format = Annotated[Literal["text", "json"], typer.Option(help="How to tell the result.")]

INIT = """Start a ledger: an empty log with its first entry.

The gate does this too, on its first decision. Start it by hand to give it an origin of your own: a
name that no other ledger has, such as a path below a domain of yours. With --key the first entry
names who may sign; with --after it holds the last checkpoint of the ledger that this one goes on from.

Examples:

  aal ledger init --origin example.com/release-ledger --key ledger.key

  aal ledger init --ledger next --origin example.com/next --after ledger
"""

VERIFY = f"""Verify the ledger offline, from its files alone.

Every entry must be chained to the one before it, stand at its place in canonical form, and follow
from the entries before it: verdicts from their checks, baselines from releases. With --policy a key
that you trust must vouch for it, with --checkpoint it must start with what you saw before, and with
--state only what was added since the last time is read.

Exit codes:
{"".join(f"{chr(10)}  {code}  {what}{chr(10)}" for code, what in EXITS.items())}
Examples:

  aal ledger verify

  aal ledger verify --ledger /mnt/audit/ledger --format json

  aal ledger verify --policy keys.txt --checkpoint kept-last-month --state audit.json
"""

SHOW = """Show the ledger's entries, oldest first.

Examples:

  aal ledger show --last 10

  aal ledger show --kind decision --kind rollback --format json

  aal ledger show --agent docs-agent --family gpt
"""


@app.command(help=INIT)
def init(
    ledger: Folder = Path("ledger"),
    origin: Annotated[str, typer.Option(help="The ledger's name.")] = DEFAULT_ORIGIN,
    key: Annotated[
        list[str] | None,
        typer.Option(help="File of a private key that may sign the ledger; repeatable."),
    ] = None,
    after: Annotated[
        Path | None,
        typer.Option(help="Folder of the ledger of another origin that this one goes on from."),
    ] = None,
    at: Annotated[
        str | None, typer.Option(help="Time to record, with a zone. Default: now.")
    ] = None,
    allow_network: Annotated[
        bool, typer.Option("--allow-network", help="Allow a network file system.")
    ] = False,
) -> None:
    """Start a ledger."""
    now = datetime.now(UTC) if at is None else moment(at)
    vkeys = [public_key(each) for each in key or ()]
    genesis = act.start(ledger, origin, now=now, vkeys=vkeys, after=after, network=allow_network)
    say(f"started: {file_name(ledger)} holds its first entry, of {genesis.at}\n")


@app.command(help=VERIFY)
def verify(
    ledger: Folder = Path("ledger"),
    fast: Annotated[
        bool, typer.Option("--fast", help="Leave out the canonical form of each line.")
    ] = False,
    no_meaning: Annotated[
        bool, typer.Option("--no-meaning", help="Leave out whether entries follow from others.")
    ] = False,
    policy: Annotated[
        Path | None, typer.Option(help="Keys that you trust, as a C2SP tlog-policy.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="A checkpoint that you kept from before.")
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(
            help="File that remembers how far all was well; later entries alone are read."
        ),
    ] = None,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """Verify the ledger."""
    try:
        report = act.verify(
            ledger,
            strict=not fast,
            meaning=not no_meaning,
            policy=policy,
            checkpoint=checkpoint,
            state=state,
        )
    except ChainBroken as broken:
        if format == "json":
            say(_json({"outcome": "broken", "entry": broken.seq, "why": broken.why}))
        raise
    say(_json(_told(report)) if format == "json" else act.told(report, meaning=not no_meaning))
    if report.audit.torn or report.uncovered:
        raise typer.Exit(4)


def _told(report: act.Report) -> dict[str, JSON]:
    audit = report.audit
    return {
        "outcome": "torn" if audit.torn else "uncovered" if report.uncovered else "verified",
        "origin": audit.head.origin,
        "size": audit.head.size,
        "root": base64.b64encode(audit.head.root).decode(),
        "at": audit.head.at,
        "covered": report.covered,
        "since": report.since,
        "torn": audit.torn,
        "followed": [each.new for each in report.followed],
        "warnings": [{"entry": seq, "what": what} for seq, what in audit.notices],
    }


def _known_kinds(kinds: list[str] | None) -> list[str] | None:
    for kind in kinds or ():
        if kind not in KINDS:
            raise typer.BadParameter(f"not one of {', '.join(KINDS)}")
    return kinds


@app.command(help=SHOW)
def show(
    ledger: Folder = Path("ledger"),
    kind: Annotated[
        list[str] | None,
        typer.Option(help="Kind of entries to show; repeatable.", callback=_known_kinds),
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Entries of this agent.")] = None,
    pack: Annotated[str | None, typer.Option(help="Entries of this pack.")] = None,
    version: Annotated[str | None, typer.Option(help="Entries of this version.")] = None,
    family: Annotated[
        str | None, typer.Option(help="Decisions with a record of this model family.")
    ] = None,
    decision: Annotated[
        str | None, typer.Option(help="Entries that name this decision's digest.")
    ] = None,
    last: Annotated[int | None, typer.Option(min=1, help="Show only the last so many.")] = None,
    format: Format = "text",  # noqa: A002 the option's name
) -> None:
    """Show entries."""
    # Not at the top: no other command here needs a database.
    from aal_engine.service.ledger_reader import Filters, LedgerReader

    asked = Filters(
        kinds=tuple(kind or ()),
        agent=agent,
        pack=pack,
        version=version,
        family=family,
        decision=decision,
    )
    reader = LedgerReader(ledger)
    entries = reader.entries(asked, limit=last or -1)[::-1]
    if reader.rebuilt is not None:
        tell(f"note: {reader.rebuilt}; it was built again")
    if format == "json":
        say("".join(_line(entry) for entry in entries))
    elif entries:
        say("".join(_row(entry) for entry in entries))
    else:
        tell("no such entries")


def _row(entry: Entry) -> str:
    told = [str(entry.body[name]) for name in TOLD if isinstance(entry.body.get(name), str)]
    return f"{entry.seq:>6}  {entry.at}  {entry.kind:<10}  {' '.join(told)}".rstrip() + "\n"


def _line(entry: Entry) -> str:
    told = {"seq": entry.seq, "at": entry.at, "kind": entry.kind, "body": entry.body}
    return json.dumps({**told, "leaf": entry.leaf.hex()}, ensure_ascii=False) + "\n"


def _json(told: Mapping[str, JSON]) -> str:
    return json.dumps(told, indent=2, ensure_ascii=False) + "\n"


for group in (ledger_sign, ledger_proof, ledger_git):
    app.add_typer(group.app)
app.add_typer(ledger_timestamp.app, name="timestamp")


def main() -> None:
    """Run `python -m aal_engine.agent.ledger`."""
    run_door(app, "python -m aal_engine.agent.ledger")


if __name__ == "__main__":
    main()
