"""A corpus of four passages, and an embedding of three words, for every back end."""

from __future__ import annotations

from typing import Any

ROWS: list[dict[str, Any]] = [
    {"id": "refund#1", "doc_id": "refund", "title": "Refunds", "text": "Refunds take 30 days."},
    {"id": "refund#2", "doc_id": "refund", "title": "Refunds", "text": "Cards are refunded first."},
    {"id": "ship#1", "doc_id": "ship", "title": "Shipping", "text": "Parcels ship within a week."},
    {"id": "price#1", "doc_id": "price", "title": "Prices", "text": "Prices: dollars & cents."},
]
WORDS = ("refund", "ship", "price")


def embed(texts: list[str]) -> list[list[float]]:
    """How often each word is in a text, and a little of everything: no vector is nothing."""
    return [[0.01 + text.lower().count(word) for word in WORDS] for text in texts]


def vectors() -> list[list[float]]:
    return embed([f"{row['title']}\n{row['text']}" for row in ROWS])
