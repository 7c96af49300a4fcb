"""The plan: which audits are made of which learners, and what a task says of itself."""

from __future__ import annotations

import dataclasses
import math
import pickle
from functools import cache

import pytest
import toy_learners
from msgspec.structs import replace

from dpaudit.contract import Instance, Relation, UtilityClaim
from dpaudit.errors import InputError
from dpaudit.evidence.plan import PROFILES, Plan, make_plan
from dpaudit.evidence.tasks import (
    ExactArguments,
    PictureArguments,
    PrivacyArguments,
    Task,
    exact_task,
    offered_settings,
    utility_tasks,
)
from dpaudit.registry import Entry, load
from dpaudit.utility.audit import stated_claim
from dpaudit.utility.hard_cases import hard_cases

TOYS = (toy_learners.__file__,)


def entry(id: str) -> Entry:
    return load(TOYS).get(id)


def tasks_of(id: str, kind: str, **options) -> list[Task]:
    return [task for task in make_plan([entry(id)], **options).tasks if task.kind == kind]


def test_a_learner_with_law_claim_and_theorem_gets_all_three():
    (exact,), (privacy,) = tasks_of("toy-coin", "exact"), tasks_of("toy-coin", "privacy")
    assert exact.arguments == ExactArguments(n=1, relation=Relation.REPLACE_ONE, samples="all")
    assert privacy.arguments == PrivacyArguments(n=1, trials=300_000, confidence=0.999, curve=True)
    assert tasks_of("toy-coin", "utility")


def test_every_hard_case_is_audited_at_the_theorems_n_and_the_budget_is_shared():
    coin = entry("toy-coin")
    cases = hard_cases(coin.build(gain=3.0), 0.3)
    claim = [task.arguments for task in tasks_of("toy-coin", "utility") if task.arguments.role == "claim"]
    assert [a.case for a in claim] == [case.name for case in cases]
    assert [a.case_index for a in claim] == list(range(len(cases)))
    assert {(a.n, a.alpha, a.beta, a.setting) for a in claim} == {(8, 0.3, 0.3, "realizable")}
    assert math.fsum(1 - a.confidence for a in claim) == pytest.approx(0.001, abs=1e-12)


def test_the_ladder_descends_from_the_theorems_n_on_the_first_case():
    ladder = [task.arguments for task in tasks_of("toy-coin", "utility") if task.arguments.role == "ladder"]
    assert [a.n for a in ladder] == [4, 2, 1]  # 8 halved; what repeats is left out
    assert {a.case_index for a in ladder} == {0}
    assert {a.confidence for a in ladder} == {0.999}


def test_controls_get_no_utility_audit():
    control = entry("broken-toy-open")
    # Its theorem is not even asked: a fault may well have spoilt it.
    spoilt = type("Spoilt", (control.learner,), {"utility": lambda self, alpha, beta: 1 // 0})
    plan = make_plan([Entry("broken-toy-open", spoilt, "here")])
    assert [task.kind for task in plan.tasks] == ["exact", "privacy"]
    assert (plan.notes, plan.faults) == ((), ())


def test_profiles_and_trials_set_the_work():
    for name, profile in PROFILES.items():
        assert tasks_of("toy-coin", "privacy", profile=name)[0].arguments.trials == profile.privacy_trials
    assert tasks_of("toy-coin", "privacy", trials=77)[0].arguments.trials == 77
    trials = [profile.privacy_trials for profile in PROFILES.values()]
    assert trials == sorted(trials)


def test_a_learner_with_nothing_to_audit_is_noted():
    plan = make_plan([entry("toy-bare"), entry("toy-coin")])
    assert {task.learner for task in plan.tasks} == {"toy-coin"}
    assert "toy-bare: nothing to audit" in plan.notes[0]
    assert plan.faults == ()


def test_a_control_that_nothing_can_detect_is_a_fault():
    bare = entry("toy-bare")
    control = type("Control", (bare.learner,), {"id": "broken-bare", "fault": "all"})
    plan = make_plan([Entry("broken-bare", control, "here")])
    assert "nothing can detect it" in plan.faults[0].error


def test_a_learner_whose_example_fails_does_not_stop_the_others():
    coin = entry("toy-coin")
    bad = type("Bad", (coin.learner,), {"id": "toy-bad", "utility": lambda self, a, b: 1 // 0})
    plan = make_plan([Entry("toy-bad", bad, "here"), coin])
    assert {task.learner for task in plan.tasks} == {"toy-coin"}
    assert plan.faults[0].learner == "toy-bad"
    assert "ZeroDivisionError" in plan.faults[0].error


def several(settings, utility):
    """Return an entry of the toy coin whose theorem speaks of some settings."""
    coin = entry("toy-coin")
    made = type("Several", (coin.learner,), {"id": "toy-several", "settings": settings, "utility": utility})
    return Entry("toy-several", made, "here")


def test_every_setting_of_the_theorem_is_audited_on_its_own_cases_and_at_its_own_n():
    sizes = {"realizable": 8, "agnostic": 32, "empirical": 4}
    both = several(tuple(sizes), lambda self, a, b, setting="realizable": UtilityClaim(a, b, sizes[setting], setting))
    plan = make_plan([both])
    utility = [task.arguments for task in plan.tasks if task.kind == "utility"]
    assert plan.notes == ()
    claims = [a for a in utility if a.role == "claim"]
    for setting, n in sizes.items():
        cases = hard_cases(both.build(gain=3.0), 0.3, setting)
        assert [a.case for a in claims if a.setting == setting] == [case.name for case in cases]
        assert {a.n for a in claims if a.setting == setting} == {n}
        ladder = [a.n for a in utility if a.role == "ladder" and a.setting == setting]
        assert ladder == [n >> k for k in range(1, 7) if n >> k]
    # All settings share one budget.
    assert math.fsum(1 - a.confidence for a in claims) == pytest.approx(0.001, abs=1e-12)
    assert offered_settings(both.build(gain=3.0), both.instance) == tuple(sizes)


def test_a_setting_that_the_theorem_does_not_reach_is_noted_and_the_others_are_audited():
    def picky(self, alpha, beta, setting="realizable"):
        if setting == "empirical":
            raise InputError("beta must be above 1/2")
        return UtilityClaim(alpha, beta, 8, setting)

    plan = make_plan([several(("realizable", "empirical"), picky)])
    assert {t.arguments.setting for t in plan.tasks if t.kind == "utility"} == {"realizable"}
    assert plan.notes == ("toy-several: no utility audit in the setting 'empirical': beta must be above 1/2",)


def test_a_setting_that_does_not_exist_is_a_fault():
    plan = make_plan([several(("pac",), lambda self, a, b, setting="pac": 1 // 0)])
    assert (
        "settings must be of realizable, agnostic, empirical, solution; 'toy-several' names 'pac'"
        in plan.faults[0].error
    )


def test_an_agnostic_theorem_alone_is_audited():
    coin = entry("toy-coin")
    claim = UtilityClaim(0.3, 0.3, 8, "agnostic")
    agnostic = type("Agnostic", (coin.learner,), {"id": "toy-agnostic", "utility": lambda self, a, b: claim})
    plan = make_plan([Entry("toy-agnostic", agnostic, "here")])
    assert {t.arguments.setting for t in plan.tasks if t.kind == "utility"} == {"agnostic"}


def test_noise_belongs_to_the_agnostic_setting():
    coin = entry("toy-coin")
    learner, options = coin.build(gain=3.0), {"trials": 10, "confidence": 0.9, "n": 5}
    with pytest.raises(InputError, match=r"noise must be left out in every setting but 'agnostic'; got 0\.2"):
        utility_tasks(learner, coin.instance, noise=0.2, **options)
    with pytest.raises(InputError, match="noise must be given for the uniform distribution in the setting 'agnostic'"):
        utility_tasks(learner, coin.instance, cases=[None], settings=["agnostic"], **options)
    (task,) = utility_tasks(learner, coin.instance, cases=[None], settings=["agnostic"], noise=0.2, **options)
    assert task.arguments.noise == 0.2
    with pytest.raises(InputError, match="no theorem on its sample size in the setting 'empirical'; give n"):
        utility_tasks(learner, coin.instance, settings=["empirical"], trials=10, confidence=0.9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"profile": "huge"}, "profile must be one of quick, default, full; got 'huge'"),
        ({"confidence": 1.0}, "confidence must be in"),
        ({"confidence": 0.0}, "confidence must be in"),
        # audit_privacy would refuse these, task by task.
        ({"confidence": 0.3}, r"confidence must be in \(0.5, 1\), got 0.3"),
        ({"trials": 9}, "trials must be an integer >= 10, got 9"),
    ],
)
def test_bad_options_are_refused(options, words):
    with pytest.raises(InputError, match=words):
        make_plan([entry("toy-coin")], **options)


@cache
def plan_of_all() -> Plan:
    return make_plan(load(TOYS).entries)


def test_the_plan_is_a_function_of_its_arguments_and_keys_are_distinct():
    plan, few = plan_of_all(), load(TOYS).entries[::10]
    assert make_plan(few) == make_plan(few)
    assert len(set(plan.planned)) == len(plan.tasks)


ALL_SAMPLES = ExactArguments(n=1, relation=Relation.REPLACE_ONE, samples="all")


def test_the_key_is_stable_and_depends_on_everything():
    task = Task("toy-coin", {"gain": 3.0, "a": 1}, ALL_SAMPLES)
    same = Task("toy-coin", {"a": 1, "gain": 3.0}, replace(ALL_SAMPLES, enclosure=False, compose=None))
    # Written down, since stored runs are resumed by it.
    assert task.key == same.key == "toy-coin/exact/n1-f70f787e29"
    others = [
        Task("toy-coin", {"gain": 3.5, "a": 1}, ALL_SAMPLES),
        Task("toy-coin", task.parameters, replace(ALL_SAMPLES, samples="crafted")),
        Task("toy-coin", task.parameters, replace(ALL_SAMPLES, compose=2)),
        Task("toy-coin", task.parameters, PictureArguments(n=1, runs=1)),
        Task("toy-liar", task.parameters, ALL_SAMPLES),
    ]
    assert len({task.key, *(other.key for other in others)}) == 6


def test_crafted_samples_are_taken_where_all_cannot_be_listed_unless_n_is_given():
    coin = entry("toy-coin")
    learner = coin.build(gain=3.0)
    wide = type("Wide", (coin.learner,), {"instance": type(coin.instance)({"gain": 3.0}, n=5, exhaustive=False)})
    assert exact_task(learner, wide.instance).arguments.samples == "crafted"
    assert exact_task(learner, wide.instance, n=2).arguments.samples == "all"
    assert exact_task(learner, wide.instance, n=2, crafted=True).arguments.samples == "crafted"
    assert exact_task(learner, coin.instance, relation=Relation.ADD_REMOVE_ONE).arguments.relation == "add-remove-one"
    with pytest.raises(InputError, match="relation must be one of"):
        exact_task(learner, coin.instance, relation="swap")


def test_utility_tasks_take_chosen_cases_and_the_users_n():
    coin = entry("toy-coin")
    learner = coin.build(gain=3.0)
    options = {"trials": 10, "confidence": 0.9}
    sharper = dataclasses.replace(coin.instance, alpha=0.2)
    (uniform,) = utility_tasks(learner, sharper, cases=[None], n=5, concept=1, **options)
    wanted = {"case": "uniform", "case_index": None, "n": 5, "alpha": 0.2, "beta": 0.3, "concept": 1, "confidence": 0.9}
    assert {name: getattr(uniform.arguments, name) for name in wanted} == wanted
    count = len(hard_cases(learner, 0.3))
    for index in (-1, count):
        with pytest.raises(InputError, match=rf"hard case 0\.\.{count - 1}; got {index}"):
            utility_tasks(learner, coin.instance, cases=[index], **options)


def test_without_a_theorem_n_must_be_given():
    bare = entry("toy-bare")
    with pytest.raises(InputError, match="toy-bare has no theorem on its sample size; give n"):
        utility_tasks(bare.build(), bare.instance, trials=10, confidence=0.9, cases=[None])
    (task,) = utility_tasks(bare.build(), bare.instance, trials=10, confidence=0.9, cases=[None], n=3)
    assert task.arguments.n == 3


def test_a_theorem_that_does_not_reach_alpha_matters_only_without_n():
    def refuse(self, alpha, beta):
        raise InputError("beta must be above 1/2")

    coin = entry("toy-coin")
    picky = type("Picky", (coin.learner,), {"id": "toy-picky", "utility": refuse})(3.0)
    with pytest.raises(InputError, match="above 1/2"):
        utility_tasks(picky, coin.instance, trials=10, confidence=0.9, cases=[None])
    assert utility_tasks(picky, coin.instance, trials=10, confidence=0.9, cases=[None], n=3)[0].arguments.n == 3


def test_a_bare_sample_size_is_a_theorem_too():
    class Sized:
        def sample_size(self, alpha, beta):
            return 7

    assert stated_claim(Sized(), 0.1, 0.1) == UtilityClaim(0.1, 0.1, 7)
    assert offered_settings(Sized(), Instance({}, 1)) == ("realizable",)
    assert offered_settings(object(), Instance({}, 1)) == ()


def test_a_task_has_its_key_in_a_worker_too():
    # Defaults are left out of keys by identity, which a text does not keep on its way to another process.
    for task in make_plan([entry("toy-coin")]).tasks:
        assert pickle.loads(pickle.dumps(task)).key == task.key


def test_every_theorem_is_audited_where_its_claim_says_something():
    open_ = set()
    for one in load().entries:
        tasks = [task for task in plan_of_all().tasks if (task.learner, task.kind) == (one.id, "utility")]
        claims = [task.arguments for task in tasks if task.arguments.role == "claim"]
        if claims and not any(claim.alpha <= 0.25 and claim.beta <= 0.1 for claim in claims):
            open_.add(one.id)
    assert open_ == {"parity-private"}  # it fails with probability 1/2, whatever the sample
