"""What stands around a bracket of numbers that were not retrieved."""

from __future__ import annotations

import pytest

from aal_engine.measure.answer.surroundings import LOOK_AROUND, Counted, judge

THREE = Counted(3, frozenset())


@pytest.mark.parametrize(
    ("before", "inside", "after", "verdict"),
    [
        ("The rate rose ", "9", ".", "citation"),
        ("As shown in ", "S3", ".", "citation"),
        ("Use Amazon ", "S3", " for it.", "prose"),
        ("We store all files in ", "S3", ".", "prose"),
        ("It is in ", "S3", " buckets.", "prose"),
        ("It is ", "S3", "(https://aws.example.org/s3).", "prose"),
        ("Use Amazon ", "S4", ".", "citation"),
        ("The rate rose ", "50", ".", "citation"),
        ("The rate rose ", "51", ".", "doubt"),
        ("The rate rose ", "1499", ".", "doubt"),
        ("The rate rose in ", "1500", ".", "prose"),
        ("The rate rose ", "9, 2004", ".", "citation"),
        ("See Table ", "9", ".", "prose"),
        ("In the same table ", "9", ".", "citation"),
        ("See table ", "9", ".", "prose"),
        ("the measured error ", "99", ".", "doubt"),
        ("the measured error ", "100", ".", "prose"),
        ("grew 5.2% ", "4-9", ".", "doubt"),
        ("grew 5.2% ", "4, 9", ".", "citation"),
        ("from ", "9", " to [12].", "doubt"),
        ("from ", "9", ".", "citation"),
        ("rows = [[1, 2], ", "3, 4", "]", "prose"),
    ],
)
def test_verdicts(before, inside, after, verdict):
    assert judge(before, inside, after, THREE) == verdict


def test_large_numbers_are_citations_where_the_list_is_long():
    assert judge("It rose ", "400", ".", Counted(41, frozenset())) == "citation"
    assert judge("It rose ", "400", ".", Counted(39, frozenset())) == "doubt"


def test_where_ids_have_four_digits_a_year_is_one_unless_an_author_stands_before_it():
    counted = Counted(3, frozenset({4}))
    assert judge("It rose ", "2004", ".", counted) == "citation"
    assert judge("Yan et al. ", "2004", ".", counted) == "prose"


@pytest.mark.parametrize("piece", ["a", "[", "a_", "[1, 2],", "1 ", "the "])
def test_any_text_around_is_read_to_its_end(piece):
    before = (piece * LOOK_AROUND)[:LOOK_AROUND]
    assert judge(before, "9", before, THREE) in {"citation", "doubt", "prose"}
