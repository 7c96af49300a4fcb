"""Replay a certificate: run the mechanism again on its pair, on fresh seeds, and test its event alone."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from msgspec import UNSET, structs

from dpaudit import seeding
from dpaudit.arguments import CONFIDENCE, check_built, read_integer, read_number
from dpaudit.audit.audit import audit_privacy, sampler_of, without_shared
from dpaudit.audit.claim_tests import COIN
from dpaudit.audit.options import Options
from dpaudit.audit.parameters import EXECUTION, Execution, Look
from dpaudit.contract import Domain, Learner, Pair, PrivacyVerdict, Relation
from dpaudit.errors import InputError, withholding
from dpaudit.evidence.certificate import Certificate, Counts, Given, Input, InputForm, Referred, counted
from dpaudit.neighbours.check import check_pair, check_pairs
from dpaudit.neighbours.smaller import take_rows
from dpaudit.outputs.values import decode_value, digest_of
from dpaudit.progress import Progress, followed
from dpaudit.record import Amount, Count, Frozen, Level, NonNegative, Probability
from dpaudit.running.sampling import Sampler
from dpaudit.running.warning_counts import gathered


class Replay(Frozen, frozen=True, kw_only=True, tag="replay", tag_field="kind"):
    """The outcome of a replay.

    Attributes
    ----------
    verdict : {"violation", "no evidence"}
        "violation" if the fresh bound exceeds the claim on inputs that are neighbours.
    relation : Relation or None
        What neighbours are.
    neighbours : bool
        Whether the inputs were seen to be neighbours, or are a pair that was given; False where that is not decided.
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
    values_checked : bool
        Whether the certificate holds both inputs. Of inputs that it names, only rows, columns and types are compared.
    """

    verdict: PrivacyVerdict
    relation: Relation | None
    neighbours: bool
    mechanism: str
    epsilon: Amount
    delta: Probability
    certified: NonNegative
    epsilon_lower: NonNegative
    confidence: Level
    bound: str
    counts: Counts | None
    seed: Count
    values_checked: bool


# The most columns that a message names; a wide dataset would fill the screen.
_COLUMNS_NAMED = 5


def replay(
    certificate: Certificate,
    mechanism: Any,
    *,
    pair: Any = None,
    relation: Relation | str | None = None,
    metric: Callable[[Any, Any], float] | None = None,
    confidence: float = CONFIDENCE,
    trials: int | None = None,
    seed: int | None = None,
    randomness: str = "argument",
    batched: bool = False,
    n_jobs: int = 1,
    timeout: float | None = None,
    probe: Any = None,
    execution: Execution = EXECUTION,
) -> Replay:
    """Run the mechanism on the certificate's pair and bound epsilon by its event alone.

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
    relation : Relation or str, optional
        What neighbours are, where the certificate does not say it.
    metric : callable, optional
        The mechanism's own distance of two inputs, at most 1 for neighbours; it decides in place of the relation.
    confidence : float
        Of the bound; it is never the certificate's.
    trials : int, optional
        Runs on each side; the certificate's own number by default.
    seed : int, optional
        The root seed; drawn at random by default, so that no certificate can be made to fit it.
    randomness, batched, n_jobs, timeout
        As for `audit_privacy`.
    probe
        As for `Look`.
    execution : Execution
        Where runs are made, what a run is that takes too long, and whether progress is shown.

    Raises
    ------
    InputError
        If an argument is wrong, the seed is the certificate's own, the pair is not the certificate's, its inputs are no
        neighbours, or runs of a call depend on each other.
    """
    check_built(mechanism, "mechanism")
    seed = secrets.randbelow(2**32) if seed is None else seeding.check_seed(seed)
    # The event was chosen with runs of that seed.
    if seed == certificate.seed:
        raise InputError.of("seed", seed, "another one than the certificate's: runs on that one are not fresh")
    known = _known(certificate, mechanism, pair)
    relation = _relation_of(certificate, relation)
    neighbours = _are_neighbours(certificate, known, relation, metric, pair is not None)
    confidence = read_number("confidence", confidence, Options.confidence.limits["gt"], 1)
    runs = None
    if trials is not None:
        runs = read_integer("trials", trials, 10)
    counts: Counts | None = None
    named = any(isinstance(side, Referred) for side in (certificate.data, certificate.neighbour))
    with withholding(named and certificate.origin.kind.own):
        if certificate.learned is not None:
            finding = audit_privacy(
                mechanism,
                [known],
                epsilon=certificate.epsilon,
                delta=certificate.delta,
                relation=relation,
                confidence=confidence,
                seed=seed,
                trials=certificate.learned if runs is None else runs,
                randomness=randomness,
                batched=batched,
                n_jobs=n_jobs,
                timeout=timeout,
                look=Look(probe=probe),
                # An event by bets is learned again by bets.
                execution=replace(execution, sequential=certificate.bound == "betting"),
            )
            lower = finding.epsilon_lower
            bound = finding.bound
        else:
            bound = certificate.bound
            with gathered():
                sampler = sampler_of(
                    mechanism,
                    seed,
                    batched=batched,
                    probe=probe,
                    n_jobs=n_jobs,
                    backend=execution.backend,
                    address=execution.address,
                    timeout=timeout,
                    timeout_is=execution.timeout_is,
                )
                # Parts that runs share with each other would let one run's output depend on another's.
                sampler = without_shared(sampler, known)
                counts = _counted(certificate, sampler, known, runs, execution.progress)
            # The event alone names one side of a run; with its opposite both are named.
            sides = 1 if certificate.opposite is UNSET else 2
            lower = counts.epsilon_lower(bound, certificate.delta, 1 - confidence, sides=sides)
    verdict = PrivacyVerdict.NO_EVIDENCE
    # A bound above the claim refutes nothing on inputs that may differ in more than a record.
    if neighbours and lower > certificate.epsilon:
        verdict = PrivacyVerdict.VIOLATION
    return Replay(
        verdict=verdict,
        relation=relation,
        neighbours=neighbours,
        mechanism=certificate.mechanism,
        epsilon=certificate.epsilon,
        delta=certificate.delta,
        certified=certificate.epsilon_lower,
        epsilon_lower=lower,
        confidence=confidence,
        bound=bound,
        counts=counts,
        seed=seed,
        values_checked=not named,
    )


def _relation_of(certificate: Certificate, relation: Relation | str | None) -> Relation | None:
    """Return what neighbours are: as it is given, or as the certificate says; None if neither says it."""
    if relation is not None:
        return Relation.parse(relation)
    if certificate.relation is None and certificate.origin.kind.own:
        # Audits of people's data make pairs of this relation by default.
        return Relation.ADD_REMOVE_ONE
    return certificate.relation


def _known(certificate: Certificate, mechanism: Any, pair: Any) -> Pair:
    """Return the pair of a certificate; inputs that it does not hold are those of the pair that is given."""
    domain = None
    if isinstance(mechanism, Learner):
        domain = mechanism.domain
    data = None
    neighbour = None
    if pair is not None:
        given = check_pairs([pair], None)[0]
        data = given.data
        neighbour = given.neighbour
    return Pair(_input_of(certificate.data, data, domain), _input_of(certificate.neighbour, neighbour, domain))


def _are_neighbours(
    certificate: Certificate,
    pair: Pair,
    relation: Relation | None,
    metric: Callable[[Any, Any], float] | None,
    given: bool,
) -> bool:
    """Return whether the inputs were seen to be neighbours, or their pair was given; `InputError` if they are not."""
    inputs = (certificate.data, certificate.neighbour)
    # Inputs without a digest are not compared.
    if digest_of(pair.data) == digest_of(pair.neighbour) != "":
        raise InputError("the two inputs of the certificate are the same")
    if metric is not None:
        try:
            distance = float(metric(pair.data, pair.neighbour))
        except Exception as error:  # whatever a metric raises for inputs that it was not made for
            raise InputError(f"the metric of the inputs failed: {type(error).__name__}") from None
        if not distance <= 1:
            raise InputError(
                f"the inputs of the certificate are no neighbours: their distance is {distance:g}, above 1"
            )
        return True
    # A pair that the user gives, and of which no record was left out, is taken as neighbours: the user says so.
    whole = all(isinstance(one, Referred) and one.records is None for one in inputs)
    return (relation is not None and check_pair(0, pair, relation)) or (given and whole)


def _counted(certificate: Certificate, sampler: Sampler, pair: Pair, runs: int | None, progress: Progress) -> Counts:
    """Return the counts of fresh runs, as many as the certificate has if no number is given."""
    made = certificate.counts
    assert made is not None  # the certificate sees to it
    most = runs or max(made.runs, made.neighbour_runs)
    number = None
    # In the proportion in which the certificate counted guesses. Of batches with delta = 0 all of them count.
    if made.count is not UNSET and not (sampler.mechanism.batched and not certificate.delta):
        number = max(1, made.count.guesses * 2 * most // (made.runs + made.neighbour_runs))
    events = (certificate.event, certificate.opposite)
    with gathered(), followed(progress, 2 * most, "runs") as report:
        sampler = replace(sampler, report=report)
        counts = counted(sampler, "replay", pair, events, certificate.direction, most, number)
    if certificate.bound != COIN:
        return structs.replace(counts, count=UNSET)
    return counts


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
    elif stored.records is None:
        value = given
    else:
        value = take_rows(given, stored.records)
    # No digest of a record is stored, so that rows, columns and types are all that can be compared.
    if isinstance(stored, Referred) and stored.form is not UNSET and InputForm.of(value) != stored.form:
        raise InputError(
            "an input is not the one that was audited: it is {found}, and the certificate names {form}",
            parameter="pair",
            names=("pair",),
            found=_form_words(InputForm.of(value)),
            form=_form_words(stored.form),
        )
    return value


def _form_words(form: InputForm) -> str:
    """Return a form in words, without more than a few columns."""
    if form.rows is None:
        return f"a {form.type}"
    columns = ", ".join(f"{name} {kind}".strip() for name, kind in form.columns[:_COLUMNS_NAMED])
    if len(form.columns) > _COLUMNS_NAMED:
        columns += f" and {len(form.columns) - _COLUMNS_NAMED} columns more"
    return f"a {form.type} of {form.rows} rows of {columns}"
