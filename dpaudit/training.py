"""One noisy gradient step as a mechanism that `audit_privacy` can run thousands of times, and canaries for it.

A step adds the clipped gradients of a batch and noise. Projected on the direction of one example's gradient, the
canary's, its outputs with and without the canary differ as the claim of one step allows, or by more: where gradients
are not clipped, noise is too small, or sums are divided by another number than noise is. Noise that is reused shows
over several steps alone.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpaudit.arguments import CONFIDENCE, read_flag, read_integer, read_number
from dpaudit.contract import PrivacyClaim, Relation
from dpaudit.errors import InputError
from dpaudit.plain_numbers import plain_number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

    from dpaudit.audit.finding import PrivacyFinding
    from dpaudit.audit.parameters import Execution, Look
    from dpaudit.running.signatures import Function

    Floats = NDArray[np.float64]

__all__ = ["StepAudit", "noisy_step", "orthogonal_directions", "random_directions", "step_delta"]

# Steps with equal generators whose differences give the canary's direction.
_SEEDS = 8


@dataclass(frozen=True, eq=False)
class StepAudit:
    """A step, or a training, as a mechanism, with its neighbouring inputs and its claim; `noisy_step` makes it.

    Calling it as ``(data, rng, size)`` returns `size` outputs: numbers of shape (size,) for one step, and for several
    (size, 3), the mean, the standard deviation and the greatest of a run's projections.

    Attributes
    ----------
    step : callable
        What is run.
    pairs : list of (data, neighbour)
        The input with the canary and the one without it.
    claim : PrivacyClaim
        The claim that is audited.
    direction : array, shape (d,)
        The unit vector on which outputs are projected.
    steps : int
        The steps of a run.
    batched : bool
        Whether `step` makes many runs in one call.
    """

    step: Function
    pairs: list[tuple[Any, Any]]
    claim: PrivacyClaim
    direction: Floats
    steps: int = 1
    batched: bool = False

    def __call__(self, data: Any, rng: np.random.Generator, size: int) -> Floats:
        """Return the projections of `size` runs, shape (size,) or (size, 3)."""
        import numpy as np

        made = _runs(self.step, data, rng, size, self.batched)
        if made.size != size * self.steps * len(self.direction):
            wanted = f"{self.steps} x {len(self.direction)} numbers a run"
            raise InputError.of("step", made.shape, f"a function that returns {wanted}")
        # On this line the canary's contribution lies; noise on every other one only hides it.
        along = made.reshape(size, self.steps, -1) @ self.direction
        if self.steps == 1:
            return np.asarray(along[:, 0])
        # Noise that is reused shows over several steps alone.
        return np.stack([along.mean(axis=1), along.std(axis=1), along.max(axis=1)], axis=1)

    def audit(
        self,
        *,
        epsilon: float | None = None,
        delta: float | None = None,
        trials: int = 100_000,
        confidence: float = CONFIDENCE,
        seed: int = 0,
        randomness: str = "argument",
        n_jobs: int = 1,
        timeout: float | None = None,
        look: Look | None = None,
        execution: Execution | None = None,
    ) -> PrivacyFinding:
        """Return the finding of `dpaudit.audit_privacy` on the pairs and the claim.

        Parameters
        ----------
        epsilon, delta : float, optional
            Another claim than that of the step.
        trials, confidence, seed, randomness, n_jobs, timeout, look, execution
            As for `dpaudit.audit_privacy`.
        """
        from dpaudit.audit.audit import audit_privacy
        from dpaudit.audit.parameters import EXECUTION, LOOK
        from dpaudit.running.passing import generator_lacks

        why = generator_lacks(_with_generator(self.step, self.batched))
        if why and randomness != "own":
            message = "the step {why}; if its randomness is its own, pass {randomness:=own}"
            raise InputError(message, names=("randomness",), parameter="step", why=why)
        return audit_privacy(
            self,
            self.pairs,
            epsilon=self.claim.epsilon if epsilon is None else epsilon,
            delta=self.claim.delta if delta is None else delta,
            trials=trials,
            confidence=confidence,
            seed=seed,
            batched=True,
            randomness=randomness,
            n_jobs=n_jobs,
            timeout=timeout,
            look=look or LOOK,
            execution=execution or EXECUTION,
        )


def noisy_step(
    step: Function,
    data: Any,
    canary: Any = None,
    *,
    noise_multiplier: float,
    sampling_rate: float = 1.0,
    steps: int = 1,
    epsilon: float = 0.0,
    claim: PrivacyClaim | None = None,
    direction: ArrayLike | None = None,
    batched: bool = False,
    join: Callable[[Any, Any], Any] | None = None,
) -> StepAudit:
    r"""Make a mechanism of one noisy gradient step, with its neighbouring inputs and the claim of its accountant.

    Parameters
    ----------
    step : callable
        ``(data, rng) -> output``, or with `batched` ``(data, rng, size) -> size outputs``: what one step releases, as
        an array, a tensor, or a list or dictionary of them. Parameters and clip norm are its own; its randomness comes
        from `rng`, a NumPy generator, which may seed a generator of another library and is passed as by
        `audit_privacy`.
    data : object
        The examples without the canary: of one batch, or where the step draws its batch, all of them.
    canary : object
        The example that comes or goes, in the form of one example of `data`.
    noise_multiplier : float
        sigma: the noise on the sum of gradients has standard deviation sigma times the clip norm.
    sampling_rate : float
        The probability q with which the step takes each example into its batch (Poisson sampling); 1 for a step
        that uses all of `data`.
    steps : int
        Steps of a run: above 1 the function is a whole training, whose output has a first axis for the steps. Without
        sampling the claim is that of sigma / sqrt(steps); with sampling pass `claim`.
    epsilon : float
        The point of the accountant's curve delta(epsilon) that is audited. At 0, the default, delta is the total
        variation distance of the worst pair, on which Gaussian noise too small shows first.
    claim : PrivacyClaim, optional
        The claim in place of the accountant's.
    direction : array, optional
        What outputs are projected on, of an output's shape (one step's). By default the mean difference of steps
        with and without the canary whose generators are equal, so that the noise cancels.
    batched : bool
        Whether `step` makes many runs in one call.
    join : callable, optional
        ``(data, canary) -> data with the canary``. By default a list gets an entry, an array a row, and the arrays of
        a tuple or dictionary a row each.

    Returns
    -------
    StepAudit

    Raises
    ------
    InputError
        If a parameter is out of range; if the canary does not fit the data; if no direction is given and none shows.

    Notes
    -----
    Without sampling, with Phi the normal distribution function and mu = 1 / sigma,

    .. math:: \delta(\epsilon) = \Phi(\mu / 2 - \epsilon / \mu) - e^\epsilon \Phi(-\mu / 2 - \epsilon / \mu)

    (Balle and Wang, ICML 2018); with sampling see `step_delta`. The relation is that of an example added or removed.
    """
    sampling_rate = _rate(sampling_rate)
    sigma = read_number("noise_multiplier", noise_multiplier, 0, math.inf)
    steps = read_integer("steps", steps)
    batched = read_flag("batched", batched)
    if claim is None:
        # Steps without sampling compose to one of sigma / sqrt(steps); with sampling they do not.
        if steps > 1 and sampling_rate < 1:
            raise InputError("claim must be given for several steps with sampling: dpaudit accounts for one step")
        found = step_delta(epsilon, noise_multiplier=sigma / math.sqrt(steps), sampling_rate=sampling_rate)
        if found >= 1:
            hint = "so little noise promises nothing there: take a larger epsilon"
            raise InputError.of("noise_multiplier", noise_multiplier, f"such that delta is below 1 at {epsilon=}", hint)
        claim = PrivacyClaim(epsilon, found, Relation.ADD_REMOVE_ONE)
    _with_generator(step, batched)
    pair = ((join or joined)(data, canary), data)
    along = _direction(step, pair, steps, batched, direction)
    return StepAudit(step, [pair], claim, along, steps, batched)


def step_delta(epsilon: float, *, noise_multiplier: float, sampling_rate: float = 1.0) -> float:
    r"""Return the least delta at which one step is (epsilon, delta)-private for an example added or removed.

    With P = (1 - q) N(0, sigma^2) + q N(1, sigma^2) and Q = N(0, sigma^2) it is the greater of the two hockey-stick
    divergences of P and Q; each is attained on a half-line that ends where the ratio of densities is exp(+-epsilon).

    Parameters
    ----------
    epsilon : float
        At least 0.
    noise_multiplier : float
        sigma > 0.
    sampling_rate : float
        q in (0, 1].
    """
    epsilon = read_number("epsilon", epsilon, 0, math.inf, closed=True)
    sigma = read_number("noise_multiplier", noise_multiplier, 0, math.inf)
    q = _rate(sampling_rate)
    # Of so small a sigma the inverse would overflow.
    mu = 1 / sigma if sigma > 1 / sys.float_info.max else math.inf
    # P - e^epsilon Q = q (N(1, sigma^2) - ratio Q) with ratio = (e^epsilon - 1 + q) / q, and mirrored
    # Q - e^epsilon P = whole (Q - ratio N(1, sigma^2)) with whole = 1 - (1 - q) e^epsilon and
    # ratio = q e^epsilon / whole: both are those of a step without sampling at the logarithm of the ratio, which does
    # not overflow.
    # log1p and expm1 keep the digits of small epsilons; for large ones e^epsilon would overflow.
    if epsilon < _LARGE:
        at = math.log1p(math.expm1(epsilon) / q)
    else:
        at = epsilon - math.log(q) + math.log1p(-(1 - q) * math.exp(-epsilon))
    removed = q * _gaussian_delta(at, mu)
    added = 0.0
    left = 0.0 if q == 1 else epsilon + math.log1p(-q)
    # Without sampling both are the same; with sampling the ratio of densities has no half-line beyond -ln(1 - q).
    if q < 1 and left < 0:
        whole = -math.expm1(left)
        added = whole * _gaussian_delta(epsilon + math.log(q) - math.log(whole), mu)
    return min(1.0, max(0.0, removed, added))


# From this epsilon on 1 is next to nothing in comparison with e^epsilon.
_LARGE = 30.0
# Below this mu the two tails of the formula are equal but for their last digits, and their slope is taken.
_SMALL = 1e-5
# Standard deviations beyond which the normal density is 0 as a float.
_FAR = 39.0


def _gaussian_delta(epsilon: float, mu: float) -> float:
    r"""Return delta(epsilon) of N(0, 1) against N(mu, 1), with a relative error of about 1e-9 at most.

    With a = mu/2 - epsilon/mu and b = a - mu it is Phi(a) - e^epsilon Phi(b), and e^epsilon phi(b) = phi(a). So it is
    phi(a) (R(-a) - R(-b)) with Mills' ratio R(x) = Phi(-x) / phi(x), in which nothing over- or underflows.
    """
    from scipy.special import erfcx, log_ndtr

    if mu == math.inf:
        return 1.0
    # The total variation distance of both, without the tails that cancel there.
    if epsilon == 0:
        return math.erf(mu / 2 / math.sqrt(2))
    shift = epsilon / mu
    a = mu / 2 - shift
    b = -mu / 2 - shift
    if a < -_FAR:
        return 0.0
    if a > 0:  # nothing is small here
        return float(math.exp(log_ndtr(a)) - math.exp(epsilon + log_ndtr(b)))
    density = math.exp(-a * a / 2) / math.sqrt(2 * math.pi)

    def mills(x: float) -> float:
        return float(math.sqrt(math.pi / 2) * erfcx(x / math.sqrt(2)))

    if mu < _SMALL:
        return density * mu * (1 - shift * mills(shift))  # R'(x) = x R(x) - 1
    return density * (mills(-a) - mills(-b))


def random_directions(count: int, dimension: int, rng: np.random.Generator, *, norm: float = 1.0) -> Floats:
    """Return gradients of canaries of the given norm in independent uniform directions, shape (count, dimension)."""
    import numpy as np

    count = read_integer("count", count)
    dimension = read_integer("dimension", dimension)
    found = rng.normal(size=(count, dimension))
    return np.asarray(read_number("norm", norm, 0, math.inf) * found / np.linalg.norm(found, axis=1, keepdims=True))


def orthogonal_directions(count: int, dimension: int, rng: np.random.Generator, *, norm: float = 1.0) -> Floats:
    """Return orthogonal gradients of canaries of the given norm, shape (count, dimension), count <= dimension.

    Canaries of orthogonal gradients do not add to each other's projections, as random directions do.
    """
    import numpy as np

    dimension = read_integer("dimension", dimension)
    count = read_integer("count", count, most=dimension)
    basis = np.linalg.qr(rng.normal(size=(dimension, count)))[0]
    return np.asarray(read_number("norm", norm, 0, math.inf) * basis.T)


def joined(data: Any, canary: Any) -> Any:
    """Return the data with the canary as its last example; see `noisy_step`."""
    import numpy as np

    if canary is None:
        raise InputError.of("canary", canary, "an example in the form of those of the data")
    if isinstance(data, Mapping) and isinstance(canary, Mapping) and data.keys() == canary.keys():
        return {key: joined(column, canary[key]) for key, column in data.items()}
    if isinstance(data, list):
        return [*data, canary]
    if isinstance(data, tuple) and isinstance(canary, Sequence) and len(data) == len(canary):
        return tuple(map(joined, data, canary))
    if isinstance(data, np.ndarray) and np.shape(canary) == data.shape[1:]:
        return np.concatenate([data, np.asarray(canary)[None]])
    raise InputError.of("canary", canary, "an example in the form of those of the data", hint="or pass join=")


def _rate(value: float) -> float:
    """Return a sampling rate in (0, 1], or raise `InputError`."""
    number = plain_number(value)
    if number is None or not 0 < number <= 1:
        raise InputError.of("sampling_rate", value, "in (0, 1]")
    return float(number)


def _runs(step: Function, data: Any, rng: np.random.Generator, size: int, batched: bool) -> Floats:
    import numpy as np

    called = _with_generator(step, batched)
    if batched:
        return np.asarray(called(data, rng, size), dtype=np.float64)
    return np.stack([_flat(called(data, rng)) for _ in range(size)])


def _with_generator(step: Function, batched: bool) -> Function:
    from dpaudit.running.passing import with_generator

    return with_generator(step, batched=batched, name="step")


def _flat(output: Any) -> Floats:
    import numpy as np

    if isinstance(output, Mapping):
        output = list(output.values())
    if isinstance(output, list | tuple):
        if not output:
            return np.empty(0)
        return np.concatenate([_flat(one) for one in output])
    # A tensor of PyTorch becomes an array only without its gradient, and in the memory of the processor.
    if hasattr(output, "detach"):
        output = output.detach()
    if hasattr(output, "cpu"):
        output = output.cpu()
    return np.asarray(output, dtype=np.float64).reshape(-1)


def _direction(step: Function, pair: tuple[Any, Any], steps: int, batched: bool, given: ArrayLike | None) -> Floats:
    """Return the unit vector of the direction given, or of the canary's mean contribution to a step."""
    import numpy as np

    if given is not None:
        found = _flat(given)
    else:
        sides = [
            np.concatenate([_runs(step, one, np.random.default_rng(seed), 1, batched) for seed in range(_SEEDS)])
            for one in pair
        ]
        # Equal generators on both sides, so that the noise cancels.
        found = (sides[0] - sides[1]).reshape(_SEEDS * steps, -1).mean(axis=0)
    length = float(np.linalg.norm(found))
    if not 0 < length < math.inf:
        raise InputError(
            "direction must be given: the canary changes no step made with equal generators, or not finitely"
        )
    return np.asarray(found / length)
