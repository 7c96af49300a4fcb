from fractions import Fraction

import pytest

from dpaudit_learners.boxes.concepts import Box
from dpaudit_learners.halfspaces.concepts import Halfspace
from dpaudit_learners.mixtures.intersections import Outside
from dpaudit_learners.parities.concepts import Parity
from dpaudit_learners.points.concepts import Constant, Point, Span, Threshold
from dpaudit_learners.regions.discs import Disc
from dpaudit_learners.regions.shapes import Halfplane, Intersection, Union
from dpaudit_learners.words import linear

STEEP, FLAT = Halfplane(1, Fraction(1, 2), Fraction(-3)), Halfplane(-1, Fraction(0), Fraction(2))


@pytest.mark.parametrize(
    ("hypothesis", "words"),
    [
        (Constant(1), "always 1"),
        (Point(2), "1 at 2 alone"),
        (Threshold(4), "1 below 4"),
        (Span(0, -1), "always 0"),
        (Span(1, 3), "1 from 1 to 3"),
        (Parity(3, 0), "always 0"),
        (Parity(3, 5), "parity of x1 and x3"),
        (Box((1, 1), (0, 2)), "the empty box"),
        (Box((0, 1), (2, 1)), "the box 0..2 x 1"),
        (STEEP, "y >= 1/2 x - 3"),
        (FLAT, "y <= 2"),
        (Disc(4, 0, -1, 3), "4 x - (x^2 + y^2) >= 3"),
        (Intersection(()), "always 1"),
        (Intersection((STEEP, FLAT)), "y >= 1/2 x - 3 and y <= 2"),
        (Union(()), "always 0"),
        (Union((Intersection((FLAT,)),)), "(y <= 2)"),
        (Halfspace((0, -2), 1), "-2 x2 >= 1"),
        (Halfspace((0, 0), 1), "0 >= 1"),
        (Outside((), ()), "always 1"),
        (Outside(((1, 1, 2),), ((0, 1, 1),)), "not (x1 + x2 >= 2 and x2 = 1)"),
        (Outside((), (), 1), "always 0"),
        (Outside(((1, 1, 2),), ((0, 1, 1),), 1), "x1 + x2 >= 2 and x2 = 1"),
    ],
)
def test_hypotheses_are_told_in_plain_words(hypothesis, words):
    assert str(hypothesis) == words


def test_a_sum_leaves_out_what_is_zero():
    assert linear([]) == linear([(0, "x")]) == "0"
    assert linear([(0, "x1"), (-1, "x2"), (Fraction(3, 2), "x3"), (-1, "")]) == "-x2 + 3/2 x3 - 1"
