"""The entries of the registry: learner classes and statements with what a list shows of them, found by id."""

from __future__ import annotations

import difflib
import inspect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpaudit.contract import (
    HasFault,
    HasFurtherInstances,
    HasPicturedInstance,
    Instance,
    Learner,
    PrivacyClaim,
    Statement,
)
from dpaudit.errors import InputError

__all__ = ["Entry", "Problem", "Registry", "StatementEntry"]


@dataclass(frozen=True)
class Problem:
    """A module that could not be loaded, or holds something that is no learner or no statement."""

    origin: str
    message: str
    requested: bool
    """Whether the user named the path; a problem elsewhere must not stand in the way."""

    def __str__(self) -> str:
        return f"{self.origin}: {self.message}"


@dataclass(frozen=True)
class Entry:
    """A learner class and what a list of learners shows of it."""

    id: str
    learner: type[Any]
    origin: str

    @property
    def instance(self) -> Instance:
        """The small instance on which every check can run."""
        found: Instance = self.learner.instance
        return found

    @property
    def further_instances(self) -> tuple[Instance, ...]:
        """The further instances on which utility is audited."""
        return self.learner.audited if isinstance(self.learner, HasFurtherInstances) else ()

    @property
    def pictured_instance(self) -> Instance:
        """The instance that is drawn: the learner's `pictured`, by default its `instance`."""
        return self.learner.pictured if isinstance(self.learner, HasPicturedInstance) else self.instance

    @property
    def fault(self) -> str | None:
        """The leak of a positive control, in a sentence; None for a learner that is not broken on purpose."""
        return self.learner.fault if isinstance(self.learner, HasFault) else None

    @property
    def summary(self) -> str:
        """The first line of the class's docstring."""
        return (inspect.getdoc(self.learner) or "").partition("\n")[0]

    @property
    def parameters(self) -> dict[str, Any]:
        """The parameters' names and defaults; `inspect.Parameter.empty` where one must be given."""
        named = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
        found = inspect.signature(self.learner).parameters.values()
        return {p.name: p.default for p in found if p.kind in named}

    def claim(self) -> PrivacyClaim | None:
        """Return the privacy claim of the small instance."""
        claim: PrivacyClaim | None = self.build(**self.instance.parameters).privacy
        return claim

    def build(self, /, **parameters: Any) -> Learner:
        """Return the learner with these parameters; see `get_learner`."""
        known = self.parameters
        allowed = ", ".join(known) or "none"
        for name in parameters:
            if name not in known:
                raise InputError(
                    f"{self.id} has no parameter {name!r}; allowed: {allowed}", parameter=name, allowed=allowed
                )
        missing = [n for n, default in known.items() if default is inspect.Parameter.empty and n not in parameters]
        if missing:
            message = f"{self.id} needs the parameter(s) {', '.join(missing)}; allowed: {allowed}"
            raise InputError(message, parameter=missing[0], allowed=allowed)
        built: Learner = self.learner(**parameters)
        return built


@dataclass(frozen=True)
class StatementEntry:
    """A statement of the ledger, where it was looked for and the file or module that lists it."""

    statement: Statement
    origin: str
    home: str = ""

    @property
    def id(self) -> str:
        """The statement's id."""
        return self.statement.id


@dataclass(frozen=True)
class Registry:
    """The learners and the statements that were found, each sorted by id, and the problems met on the way."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...] = ()
    statements: tuple[StatementEntry, ...] = ()

    def get(self, id: str) -> Entry:
        """Return the entry of that id, or raise `InputError` with the nearest ids."""
        for entry in self.entries:
            if entry.id == id:
                return entry
        raise self._unknown("learner", id, [entry.id for entry in self.entries], "dpaudit list --all")

    def get_statement(self, id: str) -> StatementEntry:
        """Return the statement of that id, or raise `InputError` with the nearest ids."""
        for entry in self.statements:
            if entry.id == id:
                return entry
        raise self._unknown("statement", id, [entry.id for entry in self.statements], "dpaudit ledger")

    def _unknown(self, noun: str, id: str, known: Sequence[str], command: str) -> InputError:
        """Return the error that says which ids are near."""
        near = difflib.get_close_matches(str(id), known, n=3, cutoff=0.5)
        hint = f"did you mean {' or '.join(near)}?" if near else f"{len(known)} are known; see `{command}`"
        failed = f" ({len(self.problems)} module(s) of learners failed to load)" if self.problems else ""
        return InputError(f"there is no {noun} {id!r}; {hint}{failed}")
