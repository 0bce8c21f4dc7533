# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Polynomials in the values of one attention, a normal form in which equal values are equal.

    e     exp(scores), less a number for each query
    1/s   one over the sum of e over the keys, so that e/s is the softmax
    g     the gradient of the probabilities: the matmul of the gradient of the result with v
    sum(e^n g^m)    sums over the keys, other than s

However autodiff and its user spell the gradient of a softmax, its polynomial is
`e g / s - e sum(e g) / s^2`, up to the scale.
"""

from dataclasses import dataclass

# Coefficients are constants of the program, rounded to its types.
_TOLERANCE = 1e-5


@dataclass(frozen=True, order=True)
class Term:
    """A product: powers of e, of s and of g, and the powers of e and g in each sum."""

    e: int = 0
    s: int = 0
    g: int = 0
    sums: tuple = ()

    def __mul__(self, other):
        return Term(self.e + other.e, self.s + other.s, self.g + other.g,
                    tuple(sorted(self.sums + other.sums)))


class Polynomial:
    """Coefficients by Term."""

    def __init__(self, terms):
        largest = max((abs(c) for c in terms.values()), default=0)
        self.terms = {term: c for term, c in terms.items() if abs(c) > _TOLERANCE * largest}

    def __bool__(self):
        return bool(self.terms)

    def __add__(self, other):
        terms = dict(self.terms)
        for term, c in other.terms.items():
            terms[term] = terms.get(term, 0) + c
        scale = max((abs(c) for p in (self, other) for c in p.terms.values()), default=0)
        return Polynomial({term: c for term, c in terms.items() if abs(c) > _TOLERANCE * scale})

    def __mul__(self, other):
        terms = {}
        for one, c in self.terms.items():
            for two, d in other.terms.items():
                terms[one * two] = terms.get(one * two, 0) + c * d
        return Polynomial(terms)

    def scaled(self, factor):
        return Polynomial({term: c * factor for term, c in self.terms.items()})

    def inverse(self):
        """One over the polynomial, which has to be a number or one power of s; None for others."""
        if len(self.terms) != 1:
            return None
        (term, c), = self.terms.items()
        return None if term.e or term.g or term.sums else Polynomial({Term(s=-term.s): 1 / c})

    def sum(self, keys):
        """The sum over the keys, of which there are `keys`."""
        found = Polynomial({})
        for term, c in self.terms.items():
            rest = Term(s=term.s, sums=term.sums)
            if not term.e and not term.g:
                part = {rest: c * keys}
            elif (term.e, term.g) == (1, 0):
                part = {rest * Term(s=1): c}
            else:
                part = {rest * Term(sums=((term.e, term.g),)): c}
            found += Polynomial(part)
        return found

    def is_zero_where_masked(self):
        """Whether it has a factor e, which is 0 for masked keys."""
        return all(term.e > 0 for term in self.terms)

    def equals(self, other):
        if self.terms.keys() != other.terms.keys():
            return False
        return all(abs(c - other.terms[term]) <= _TOLERANCE * abs(c) for term, c in self.terms.items())


def number(value):
    return Polynomial({Term(): value} if value else {})


EXPONENTIALS = Polynomial({Term(e=1): 1.0})
PROBABILITIES = Polynomial({Term(e=1, s=-1): 1.0})
GRADIENTS = Polynomial({Term(g=1): 1.0})
SCORE_GRADIENTS = Polynomial({Term(e=1, s=-1, g=1): 1.0, Term(e=1, s=-2, sums=((1, 1),)): -1.0})
