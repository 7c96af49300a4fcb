"""The certificate of a violation that an audit on the command line has found."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpaudit import certificates
from dpaudit.audit.finding import PrivacyFinding
from dpaudit.audit.options import RUNNING
from dpaudit.certificates.certificate import Referred
from dpaudit.cli.streams import pending
from dpaudit.cli.verb import Given
from dpaudit.contract import Verdict
from dpaudit.errors import InputError

__all__ = ["certify", "check_certificate"]


def check_certificate(args: Given) -> None:
    """Refuse a file in a folder that is not there, before anything runs."""
    if args.certificate is not None and not Path(args.certificate).parent.is_dir():
        raise InputError.of("certificate", args.certificate, "a file in a folder that exists")


def certify(args: Given, finding: PrivacyFinding, mechanism: Any, pairs: Any, **told: Any) -> None:
    """Write the certificate that was asked for, if the finding is a violation; a note says which file has it."""
    if args.certificate is None:
        return
    if finding.verdict is not Verdict.VIOLATION:
        pending.append("no violation was found, so no certificate is written")
        return
    made = certificates.make(
        finding,
        pairs,
        mechanism=mechanism,
        float_bits=args.float_bits,
        n_jobs=args.n_jobs,
        include_data=args.include_data,
        progress=not args.quiet,
        **{name: getattr(args, name) for name in RUNNING} | told,
    )
    made.write(args.certificate)
    checked = f"python -m dpaudit.verify_certificate {args.certificate}"
    named = isinstance(made.data, Referred) or isinstance(made.neighbour, Referred)
    again = f"; it names its inputs by recipe and digest: replay with --data {args.data}" if named and args.data else ""
    pending.append(
        f"the certificate {args.certificate} shows epsilon >= {made.epsilon_lower:.3g}; check it by {checked}{again}"
    )
