"""Mechanisms of many signatures; each keeps epsilon 1 if it gets what it asks for, and gives its data away if not.

`SINGLE` and `BATCHED` say of each name what an audit is to do with it: pass the generator, call it without one, which
needs `randomness="own"`, or refuse it with a message.
"""

# ruff: noqa: E501, E731  # a table is read line by line
# fmt: off
from __future__ import annotations

import functools
import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from nowhere import Unknown  # an annotation that nothing can evaluate

PAIRS = [(0, 1)]
FILLED, OWN = "filled", "own"
QUANTITY, MORE, NO_DATA = "is a quantity and no generator: fix it, as functools.partial", "also needs", "for the data"
FIRST = "gets the data: fix it, as functools.partial"


def release(data, rng, right=True):
    """Return the data with noise; the data itself where an option is not what its author left, or rng no generator."""
    if not right or not isinstance(rng, np.random.Generator | np.random.RandomState):
        return data
    return round(data + rng.laplace())


OURS = np.random.default_rng()


def own(data, right=True):
    return release(data, OURS, right)


def several(data, rng, size, right=True):
    if not isinstance(size, int | np.integer):
        return data
    return [release(data, rng, right) for _ in range(size)]


def check_random_state(seed):
    """As that of scikit-learn."""
    if seed is None:
        return np.random.RandomState()
    if isinstance(seed, np.random.RandomState):
        return seed
    raise ValueError(f"{seed!r} cannot be used to seed a numpy.random.RandomState instance")


# The generator is passed.


def second_required(data, gen): return release(data, gen)
def named(data, rng): return release(data, rng)
def named_with_default(data, rng=None): return release(data, rng)
def keyword_only(data, *, generator): return release(data, generator)
def all_by_name(*, data, rng): return release(data, rng)
def keyword_only_prng(data, *, prng): return release(data, prng)
def keyword_only_with_default(data, *, random_generator=None): return release(data, random_generator)
def option_before(data, scale=1.0, rng=None): return release(data, rng, scale == 1.0)
def options_before(data, debug=False, *, seed=None, generator=None): return release(data, generator, not debug and seed is None)
def generator_first(rng, data): return release(data, rng)
def generator_first_with_defaults(rng=None, data=None): return release(data, rng)
def positional_only(data, rng, /): return release(data, rng)
def positional_only_after_option(data, scale=1.0, rng=None, /): return release(data, rng, scale == 1.0)
def positional_only_unnamed(data, gen, /, debug=False): return release(data, gen, not debug)
def option_after(data, gen, debug=False): return release(data, gen, not debug)
def quantity_with_default(data, gen, epsilon=1.0): return release(data, gen, epsilon == 1.0)
def options_in_a_dictionary(data, rng, **options): return release(data, rng, not options)
def rows_and_generator(*rows, rng): return release(rows[0], rng, len(rows) == 1)
def two_names(data, rng=None, random_state=None): return release(data, rng, random_state is None)
def old_interface(data, random_state=None): return release(data, check_random_state(random_state))
def old_methods(data, random_state): return round(data + random_state.standard_normal(1)[0] * 0 + np.log(random_state.rand() / random_state.rand()))
def new_interface(data, random_state): return release(data, random_state, isinstance(random_state, np.random.Generator))
def annotated(data: Unknown, scale: Unknown = 1.0, rng: Unknown = None) -> Unknown: return release(data, rng, scale == 1.0)
def default_generator(data, rng=OURS): return release(data, rng, rng is not OURS)


a_lambda = lambda data, rng: release(data, rng)
a_lambda_by_name = lambda data, *, prng=None: release(data, prng)
for _scale in (1.0,):
    def closure_and_generator(data, rng, scale=_scale): return release(data, rng, scale == 1.0)


def with_epsilon(data, epsilon, rng): return release(data, rng, epsilon == 1.0)
def epsilon_first(epsilon, data, rng): return release(data, rng, epsilon == 1.0)


a_partial = functools.partial(with_epsilon, epsilon=1.0)
a_partial_by_place = functools.partial(epsilon_first, 1.0)
a_partial_of_a_partial = functools.partial(functools.partial(epsilon_first, epsilon=1.0))
a_partial_with_none = functools.partial(option_before, rng=None)


class Space:
    scale = 1.0

    def method(self, data, rng): return release(data, rng)
    def method_with_option(self, data, debug=False, rng=None): return release(data, rng, not debug)
    def method_own(self, data, debug=False): return own(data, not debug)
    partial_method = functools.partialmethod(method_with_option, debug=False)

    @staticmethod
    def static(data, gen): return release(data, gen)

    @staticmethod
    def static_own(data, debug=False): return own(data, not debug)

    @classmethod
    def of_class(cls, data, scale=1.0, *, rng): return release(data, rng, scale == cls.scale)

    @classmethod
    def of_class_own(cls, data, scale=1.0): return own(data, scale == cls.scale)


space = Space()
bound, bound_with_option, bound_partial, bound_own = space.method, space.method_with_option, space.partial_method, space.method_own


class CallableObject:
    def __call__(self, data, gen): return release(data, gen)


class CallableWithOption:
    def __call__(self, data, debug=False, *, random_state=None): return release(data, random_state, not debug)


class CallableOwn:
    def __call__(self, data, debug=False): return own(data, not debug)


@dataclass(frozen=True)
class Configured:
    scale: float = 1.0

    def __call__(self, data, scale=None, rng=None): return release(data, rng, scale is None)


callable_object, callable_with_option, callable_own, configured = CallableObject(), CallableWithOption(), CallableOwn(), Configured()


class Made(float):
    """A class is called like a function."""

    def __new__(cls, data, rng): return super().__new__(cls, release(data, rng))


def wrapped(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs): return function(*args, **kwargs)
    return wrapper


def bare(function):
    def wrapper(*args, **kwargs): return function(*args, **kwargs)
    return wrapper


@wrapped
def decorated(data, scale=1.0, rng=None): return release(data, rng, scale == 1.0)


@wrapped
@wrapped
def decorated_twice(data, gen): return release(data, gen)


@functools.wraps(with_epsilon)
def decorated_with_fewer(data, rng): return with_epsilon(data, 1.0, rng)


@functools.wraps(own)
def decorated_with_more(data, debug=False, rng=None): return release(data, rng, not debug)


@functools.singledispatch
def dispatched(data, rng): return release(data, rng)


class Jitted:
    """As compiled functions are: its parameters are those of another, and a call of it is no function of Python's."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.function = function

    def __call__(self, *args, **kwargs): return self.function(*args, **kwargs)


class WithSignature:
    """As functions of Cython are, with ``binding=True``."""

    def __init__(self, function):
        self.function, self.__signature__ = function, inspect.signature(function)

    def __call__(self, *args, **kwargs): return self.function(*args, **kwargs)


jitted, with_signature = Jitted(option_before), WithSignature(option_before)

# Nothing asks for a generator: noise of their own.


def data_alone(data): return own(data)
def flag(data, debug=False): return own(data, not debug)
def epsilon_with_default(data, epsilon=1.0): return own(data, epsilon == 1.0)
def seed_with_default(data, seed=None): return own(data, seed is None)
def another_name(data, random=None): return own(data, random is None)
def rows(*rows): return own(rows[0], len(rows) == 1)
def more_rows(data, *more): return own(data, not more)
def any_options(data, **options): return own(data, not options)
def keyword_option(data, *, gen=None): return own(data, gen is None)
def positional_only_option(data, debug=False, /): return own(data, not debug)


a_lambda_own = lambda data, debug=False: own(data, not debug)
for _scale in (1.0,):
    def closure(data, scale=_scale): return own(data, scale == 1.0)
a_partial_own = functools.partial(flag, debug=False)
a_partial_with_generator = functools.partial(named, rng=OURS)
decorated_own, undecorated, decorated_bare = wrapped(flag), bare(flag), bare(data_alone)


@functools.wraps(named)
def says_more_than_it_takes(data): return own(data)


def lying(data, debug=False): return own(data, not debug)


lying.__signature__ = inspect.signature(named)


@functools.wraps(named)
def lying_to_an_option(data, debug=False, **options): return own(data, not debug and not options)


class BadSignature:
    __signature__ = "no signature"

    def __call__(self, data, debug=False): return own(data, not debug)


bad_signature, jitted_own = BadSignature(), Jitted(flag)

# Nothing that an audit could do is right.


def needs_epsilon(data, epsilon): return own(data)
def needs_noise_scale(data, noise_scale): return own(data)
def needs_k(data, K, debug=False): return own(data)
def needs_bounds_too(data, gen, bounds): return release(data, gen)
def needs_keyword(data, rng, *, scale): return release(data, rng)
def no_data(rng): return rng.laplace()
def nothing(): return 0
def two_by_name(*, data, more, rng): return release(data, rng)


SINGLE = {
    **dict.fromkeys(
        "second_required named named_with_default all_by_name keyword_only keyword_only_prng keyword_only_with_default option_before "
        "options_before generator_first generator_first_with_defaults positional_only positional_only_after_option "
        "positional_only_unnamed option_after quantity_with_default options_in_a_dictionary rows_and_generator two_names "
        "old_interface old_methods new_interface annotated default_generator a_lambda a_lambda_by_name "
        "closure_and_generator a_partial a_partial_by_place a_partial_of_a_partial a_partial_with_none bound "
        "bound_with_option bound_partial Space.static Space.of_class callable_object callable_with_option configured "
        "Made decorated decorated_twice decorated_with_fewer decorated_with_more dispatched jitted "
        "with_signature".split(),
        FILLED,
    ),
    **dict.fromkeys(
        "data_alone flag epsilon_with_default seed_with_default another_name rows more_rows any_options keyword_option "
        "positional_only_option a_lambda_own closure a_partial_own a_partial_with_generator decorated_own undecorated "
        "decorated_bare bound_own Space.static_own Space.of_class_own callable_own says_more_than_it_takes lying "
        "lying_to_an_option bad_signature jitted_own".split(),
        OWN,
    ),
    **dict.fromkeys(["needs_epsilon", "needs_noise_scale", "needs_k"], QUANTITY),
    **dict.fromkeys(["with_epsilon", "needs_bounds_too", "needs_keyword"], MORE),
    "epsilon_first": FIRST,
    **dict.fromkeys(["no_data", "nothing", "two_by_name"], NO_DATA),
}  # fmt: skip

# Many runs in a call.


def batch(data, rng, size): return several(data, rng, size)
def batch_unnamed(data, gen, count): return several(data, gen, count)
def batch_size_first(data, size, rng): return several(data, rng, size)
def batch_size_default(data, rng, size=None): return several(data, rng, size)
def batch_unnamed_size_default(data, gen, size=None): return several(data, gen, size)
def batch_by_name(data, *, size, rng): return several(data, rng, size)
def batch_generator_last(data, count, *, prng=None): return several(data, prng, count)
def batch_option_before(data, size, scale=1.0, rng=None): return several(data, rng, size, scale == 1.0)
def batch_option_between(data, rng, scale=1.0, size=1): return several(data, rng, size, scale == 1.0)
def batch_generator_first(rng, data, count): return several(data, rng, count)
def batch_positional_only(data, gen, count, /): return several(data, gen, count)
def batch_positional_only_option(data, scale=1.0, rng=None, size=None, /): return several(data, rng, size, scale == 1.0)
def batch_option_after(data, gen, count, debug=False): return several(data, gen, count, not debug)
def batch_old_interface(data, random_state, size): return several(data, check_random_state(random_state), size)
def batch_with_epsilon(data, epsilon, rng, size): return several(data, rng, size, epsilon == 1.0)


batch_lambda = lambda data, rng, size: several(data, rng, size)
batch_partial = functools.partial(batch_with_epsilon, epsilon=1.0)


class BatchSpace:
    def method(self, data, size, debug=False, rng=None): return several(data, rng, size, not debug)
    def method_own(self, data, size, debug=False): return several(data, OURS, size, not debug)

    @staticmethod
    def static(data, gen, size): return several(data, gen, size)

    @classmethod
    def of_class(cls, data, size, *, rng): return several(data, rng, size)

    def __call__(self, data, rng, n): return several(data, rng, n)


batch_bound, batch_bound_own, batch_callable = BatchSpace().method, BatchSpace().method_own, BatchSpace()
batch_decorated, batch_jitted = wrapped(batch_option_before), Jitted(batch_option_before)


@functools.wraps(batch_with_epsilon)
def batch_decorated_with_fewer(data, rng, size): return several(data, rng, size)


def batch_own(data, size): return several(data, OURS, size)
def batch_own_unnamed(data, n): return several(data, OURS, n)
def batch_own_default(data, size=None): return several(data, OURS, size)
def batch_own_by_name(data, *, size): return several(data, OURS, size)
def batch_own_option(data, size, debug=False): return several(data, OURS, size, not debug)
def batch_own_seed(data, count, seed=None): return several(data, OURS, count, seed is None)


batch_partial_with_generator = functools.partial(batch, rng=OURS)


@functools.wraps(batch)
def batch_says_more(data, size): return several(data, OURS, size)


def batch_needs_epsilon(data, epsilon, size): return several(data, OURS, size)
def batch_size_then_k(data, size, k): return several(data, OURS, size)
def batch_needs_more(data, rng, size, extra): return several(data, rng, size)
def batch_without_size(data, rng): return several(data, rng, 1)
def batch_rows(*rows): return several(rows[0], OURS, rows[-1])


NO_SIZE = "has no parameter for the number of runs"
BATCHED = {
    **dict.fromkeys(
        "batch batch_unnamed batch_size_first batch_size_default batch_unnamed_size_default batch_by_name "
        "batch_generator_last batch_option_before batch_option_between batch_generator_first batch_positional_only "
        "batch_positional_only_option batch_option_after batch_old_interface batch_lambda batch_partial "
        "BatchSpace.static BatchSpace.of_class batch_bound batch_callable batch_decorated batch_jitted "
        "batch_decorated_with_fewer".split(),
        FILLED,
    ),
    **dict.fromkeys(
        "batch_own batch_own_unnamed batch_own_default batch_own_by_name batch_own_option batch_own_seed "
        "batch_bound_own batch_partial_with_generator batch_says_more".split(),
        OWN,
    ),
    **dict.fromkeys(["batch_needs_epsilon", "batch_size_then_k"], QUANTITY),
    **dict.fromkeys(["batch_with_epsilon", "batch_needs_more"], MORE),
    **dict.fromkeys(["batch_without_size", "batch_rows"], NO_SIZE),
}  # fmt: skip
