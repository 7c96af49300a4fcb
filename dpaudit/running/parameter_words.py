"""Words in the names of parameters, by which a parameter asks for a generator or takes none."""

from __future__ import annotations

import inspect
import re

GENERATORS = ("rng", "generator", "random_state", "random_generator", "prng")
"""The names by which a parameter asks for the generator, in the order in which they are looked for."""
SIZE = "size"
"""The name by which a parameter asks for the number of runs that a batched call makes."""
# The name that scikit-learn gave to parameters which take a `RandomState`, and mostly refuse a `Generator`.
OLD_GENERATOR = "random_state"
# Words of a name that no generator has: a second required parameter of such a name is a quantity to be fixed.
QUANTITIES = frozenset(
    "epsilon eps delta scale sigma size n k bounds sensitivity "
    "rho mu budget multiplier clip clipping threshold bound lower upper iterations rounds".split()
)
# The same, of options and inputs: a generator is true, so that it would switch on whatever it is passed for.
SWITCHES = frozenset(
    "debug verbose exact quiet dry private noisy strict raw mode flag columns column labels query queries".split()
)
# Words of a name that ask for a generator, whatever else the name says: private_rng, or query_rng, is no option.
NAMED_GENERATORS = frozenset("rng prng generator random gen".split())
# Words of a name that an integer may have, in the place of a generator.
SEEDS = frozenset("seed key state".split())
# Types that a parameter may be declared to have, and that no generator has.
PLAIN_TYPES = ("bool", "float", "int", "str", "bytes", "complex", "list", "dict", "tuple", "set")


def words_of(name: str) -> list[str]:
    """Return the words of a name."""
    return re.split(r"[_\d]+", name.lower())


def is_quantity(name: str) -> bool:
    """Say whether a name is that of a quantity."""
    return not QUANTITIES.isdisjoint(words_of(name))


def not_a_generator(parameter: inspect.Parameter) -> str:
    """Say why a parameter takes no generator, or return "" if it may take one."""
    words = words_of(parameter.name)
    if not NAMED_GENERATORS.isdisjoint(words):
        return ""
    if not QUANTITIES.isdisjoint(words):
        return "a quantity"
    if not SWITCHES.isdisjoint(words):
        return "an option"
    declared = _declared(parameter)
    if declared in PLAIN_TYPES and SEEDS.isdisjoint(words):
        return f"declared as {declared}"
    return ""


def _declared(parameter: inspect.Parameter) -> str:
    """Return the name of the type that a parameter is declared to have."""
    declared = parameter.annotation
    if isinstance(declared, type):
        return declared.__name__
    # An annotation that was written in quotes keeps them.
    return str(declared).strip("'\"")
