"""Accounts and transfers in the database: double entry, each transfer once and for ever."""

from __future__ import annotations

from collections.abc import Mapping

from sqlalchemy import Connection, case, func, or_, select, update

from aal_engine.errors import Conflict, InputError
from aal_engine.registry.db.dialect import insert
from aal_engine.registry.db.schema import accounts, exams, transfers
from aal_engine.registry.treasury import DAY_MS, ISSUANCE, MAX_AMOUNT, Earned


def transfer(
    connection: Connection,
    key: str,
    payer: str,
    payee: str,
    amount: int,
    *,
    suite_id: int | None = None,
    now_ms: int,
) -> bool:
    """Move units from one account to another, once for each key; False where funds are short.

    A second call with the same key moves nothing, and is true.

    Raises:
        InputError: the amount is not from 1 to MAX_AMOUNT.
        Conflict: the key names another transfer.
    """
    if not 0 < amount <= MAX_AMOUNT:
        raise InputError.at(f"not a whole number from 1 to {MAX_AMOUNT}", field="amount")
    known = connection.execute(select(transfers).where(transfers.c.key == key)).one_or_none()
    if known is not None:
        if (known.payer, known.payee, known.amount) != (payer, payee, amount):
            raise Conflict("this key names another transfer; nothing was moved")
        return True
    opened = insert(connection, accounts).values(
        [{"name": n, "balance": 0} for n in (payer, payee)]
    )
    connection.execute(opened.on_conflict_do_nothing())
    funded = or_(accounts.c.balance >= amount, accounts.c.name == ISSUANCE)
    taken = update(accounts).where(accounts.c.name == payer, funded)
    if connection.execute(taken.values(balance=accounts.c.balance - amount)).rowcount != 1:
        return False
    given = update(accounts).where(accounts.c.name == payee)
    connection.execute(given.values(balance=accounts.c.balance + amount))
    connection.execute(
        transfers.insert().values(
            key=key, payer=payer, payee=payee, amount=amount, suite_id=suite_id, at=now_ms
        )
    )
    return True


def balance(connection: Connection, name: str) -> int:
    """Return an account's units; 0 for an account that nothing was ever moved to or from."""
    return connection.scalar(select(accounts.c.balance).where(accounts.c.name == name)) or 0


def earned(connection: Connection, did: str, suite_id: int, *, now_ms: int) -> Earned:
    """Return what a suite paid an agent before."""
    recent = case((transfers.c.at > now_ms - DAY_MS, transfers.c.amount), else_=0)
    query = select(func.max(transfers.c.at), func.sum(recent)).where(
        transfers.c.payee == did, transfers.c.suite_id == suite_id
    )
    last_at, in_a_day = connection.execute(query).one()
    return Earned(last_at, int(in_a_day or 0))


def faults(connection: Connection) -> list[str]:
    """Hold the accounts against the transfers; return what is wrong, in words.

    The connection must see one state of the database.
    """
    moved: dict[str, int] = {}
    for column, sign in ((transfers.c.payee, 1), (transfers.c.payer, -1)):
        query = select(column, func.sum(transfers.c.amount)).group_by(column)
        for name, units in connection.execute(query):
            moved[name] = moved.get(name, 0) + sign * int(units)
    held: Mapping[str, int] = {
        row.name: row.balance for row in connection.execute(select(accounts))
    }
    wrong = [
        f"account {name} holds {held.get(name, 0)}, its transfers come to {moved.get(name, 0)}"
        for name in sorted(held.keys() | moved.keys())
        if held.get(name, 0) != moved.get(name, 0)
    ]
    if sum(held.values()) != 0:
        wrong.append(f"the accounts add up to {sum(held.values())}, not to 0")
    wrong += [f"account {n} is below zero" for n, b in held.items() if b < 0 and n != ISSUANCE]
    paid = select(func.count()).where(exams.c.reward == "paid")
    rewards = select(func.count()).where(transfers.c.key.like("eval:%"))
    if connection.scalar(paid) != connection.scalar(rewards):
        wrong.append("the rewards that were paid are not the transfers that paid them")
    return wrong
