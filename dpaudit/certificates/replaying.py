"""Replay a certificate: run the mechanism again on its pair, on fresh seeds, and test its event alone."""

from __future__ import annotations

import secrets
from dataclasses import replace
from typing import Any

from msgspec import UNSET, structs

from dpaudit import seeding
from dpaudit.arguments import check_built, read_integer
from dpaudit.audit.audit import audit_privacy, sampler_of
from dpaudit.audit.tested import COIN
from dpaudit.certificates.certificate import Certificate, Counts, Given, Input, Referred
from dpaudit.certificates.counting import counted
from dpaudit.contract import Domain, Learner, Pair, Verdict
from dpaudit.errors import InputError, withholding
from dpaudit.keyed import FOLDER, NAME, is_of, key_of, keyed
from dpaudit.neighbours.check import check_pairs
from dpaudit.neighbours.smaller import take_rows
from dpaudit.outputs.values import decode_value, digest_of
from dpaudit.progress import Progress, followed
from dpaudit.record import Amount, Count, Frozen, Level, NonNegative, Probability
from dpaudit.running.sampling import Sampler
from dpaudit.running.warned import gathered


class Replay(Frozen, frozen=True, kw_only=True, tag="replay", tag_field="kind"):
    """The outcome of a replay.

    Attributes
    ----------
    verdict : {"violation", "no evidence"}
        "violation" if the fresh bound exceeds the claim.
    mechanism : str
        The mechanism as the certificate names it.
    epsilon, delta : float
        The claim.
    certified, epsilon_lower : float
        The certificate's bound, and that of the fresh runs.
    confidence : float
        Of the fresh bound; it rests on nothing that the certificate says but the claim, the pair and the event.
    bound : str
        The kind of the fresh bound.
    counts : Counts or None
        The fresh runs in the event; None where bets decided, or the audit learned another event.
    seed : int
        The root seed of the fresh runs.
    """

    verdict: Verdict
    mechanism: str
    epsilon: Amount
    delta: Probability
    certified: NonNegative
    epsilon_lower: NonNegative
    confidence: Level
    bound: str
    counts: Counts | None
    seed: Count


def replay(
    certificate: Certificate,
    mechanism: Any,
    *,
    pair: Any = None,
    trials: int | None = None,
    seed: int | None = None,
    randomness: str = "argument",
    progress: Progress = False,
    **running: Any,
) -> Replay:
    """Run the mechanism on the certificate's pair and bound epsilon by its event alone, at its confidence.

    An explicit event is tested as it is. One that only an audit can learn is learned again: the pair is audited, with
    as many runs as the certificate states.

    Parameters
    ----------
    certificate : Certificate
        The certificate.
    mechanism : Learner or callable
        The mechanism.
    pair : (data, neighbour) or Pair, optional
        The pair at the place that the certificate names, where it does not hold its inputs.
    trials : int, optional
        Runs on each side; the certificate's own number by default.
    seed : int, optional
        The root seed; drawn at random by default, so that no certificate can be made to fit it.
    randomness, progress
        As for `audit_privacy`.
    **running
        The options on how runs are made, as for `audit_privacy`: `batched`, `probe`, `n_jobs`, `backend`, and those on
        the time of a run.

    Raises
    ------
    InputError
        If an argument is wrong, the seed is the certificate's own, or the pair is not the certificate's.
    """
    check_built(mechanism, "mechanism")
    seed = secrets.randbelow(2**32) if seed is None else seeding.check_seed(seed)
    if seed == certificate.seed:
        raise InputError.of("seed", seed, "another one than the certificate's: runs on that one are not fresh")
    given = None if pair is None else check_pairs([pair], None)[0]
    domain = mechanism.domain if isinstance(mechanism, Learner) else None
    sides = (None, None) if given is None else (given.data, given.neighbour)
    inputs = zip((certificate.data, certificate.neighbour), sides, strict=True)
    known = Pair(*(_input_of(stored, side, domain) for stored, side in inputs))
    runs = None if trials is None else read_integer("trials", trials, 10)
    counts = None
    named = any(isinstance(side, Referred) for side in (certificate.data, certificate.neighbour))
    with withholding(named and certificate.origin.kind.own):
        if certificate.learned is not None:
            betting = certificate.bound == "betting"
            finding = audit_privacy(
                mechanism,
                [known],
                epsilon=certificate.epsilon,
                delta=certificate.delta,
                relation=certificate.relation,
                confidence=certificate.confidence,
                seed=seed,
                sequential=betting,
                trials=certificate.learned if runs is None else runs,
                randomness=randomness,
                progress=progress,
                **running,
            )
            lower, bound = finding.epsilon_lower, finding.bound
        else:
            bound, sampler = certificate.bound, sampler_of(mechanism, seed, **running)
            counts = _counted(certificate, sampler, known, runs, progress)
            lower = counts.epsilon_lower(
                bound, certificate.delta, 1 - certificate.confidence, sides=1 if certificate.opposite is UNSET else 2
            )
    return Replay(
        verdict=Verdict.VIOLATION if lower > certificate.epsilon else Verdict.NO_EVIDENCE,
        mechanism=certificate.mechanism,
        epsilon=certificate.epsilon,
        delta=certificate.delta,
        certified=certificate.epsilon_lower,
        epsilon_lower=lower,
        confidence=certificate.confidence,
        bound=bound,
        counts=counts,
        seed=seed,
    )


def _counted(certificate: Certificate, sampler: Sampler, pair: Pair, runs: int | None, progress: Progress) -> Counts:
    """Return the counts of fresh runs, as many as the certificate has if no number is given."""
    made = certificate.counts
    assert made is not None  # the certificate sees to it
    most, number = runs or max(made.runs, made.neighbour_runs), None
    if made.count is not UNSET and not (sampler.mechanism.batched and not certificate.delta):
        number = max(1, made.count.guesses * 2 * most // (made.runs + made.neighbour_runs))
    events = certificate.event, certificate.opposite
    with gathered(), followed(progress, 2 * most, "runs") as report:
        sampler = replace(sampler, report=report)
        counts = counted(sampler, "replay", pair, events, certificate.direction, most, number)
    return counts if certificate.bound == COIN else structs.replace(counts, count=UNSET)


def _input_of(stored: Input, given: Any, domain: Domain | None) -> Any:
    """Return an input of a certificate; one that it does not hold is taken from the pair given."""
    if isinstance(stored, Given):
        value = decode_value(stored.value, domain)
    elif given is None:
        raise InputError(
            "the certificate names its inputs and does not hold them: give {pair}, which is {place} ({recipe})",
            names=("pair",),
            place=stored.place or "one that was audited",
            recipe=stored.recipe or "as it was given",
        )
    else:
        value = given if stored.records is None else take_rows(given, stored.records)
    key = key_of()
    if not is_of(stored.digest, key):
        raise InputError(
            "{pair} cannot be compared with the digest of the certificate, which was made with the key of another "
            f"folder: replay where the audit was made, or copy {FOLDER / NAME} of there to here",
            names=("pair",),
        )
    digest = keyed(digest_of(value), key) if ":" in stored.digest else digest_of(value)
    if stored.digest and digest != stored.digest:
        raise InputError(
            "an input is not the one that was audited: its digest is {found}, and the certificate has {digest}",
            parameter="pair",
            names=("pair",),
            found=digest or "unknown",
            digest=stored.digest,
        )
    return value
