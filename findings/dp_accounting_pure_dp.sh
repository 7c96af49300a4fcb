#!/usr/bin/env bash
# dp-accounting: the PLD accountant says that a Laplace release is not private at delta = 0.
#
# Packages: dp-accounting 0.6.0. Date: 2026-11-28.
#
# Guess before the run: for LaplaceDpEvent(1.0), which is purely 1-differentially private, get_epsilon(0) is 1.0 to four
# digits and get_delta(1.0) is 0; the same for discrete Laplace noise, once or ten times.
#
# Seen: get_epsilon(0) is inf, and get_delta(1.0) is 1e-15, as is get_delta(50). From delta = 1e-15 on epsilon is 1. The
# discrete Laplace event keeps delta = 0 when composed once and loses it when composed ten times. The distribution that
# the same package builds by from_laplace_mechanism has no such mass: its epsilon at delta = 0 is 1.0. So the mass is
# the accountant's, it is conservative, and it shows only where delta is below it.
#
# Why it matters: a claim of pure differential privacy (delta = 0) cannot be read from this accountant, and "inf" in a
# table looks like a mechanism without privacy. What to do: for pure mechanisms add the epsilons, or ask the
# distribution itself, or ask for the epsilon at delta = 1e-15 and claim that delta with it.

set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check \
    dp-accounting==0.6.0

cat >"$folder/expected" <<'END'
Laplace, epsilon at delta 0: inf
Laplace, delta at epsilon 1 and 50: 1e-15 1e-15
Laplace, epsilon at delta 1e-15: 1.0
discrete Laplace, once and ten times: 1.0 inf
the distribution itself: 1.0
END

"$folder/venv/bin/python" -W ignore - >"$folder/seen" <<'END'
from dp_accounting import dp_event, pld

LAPLACE, DISCRETE = dp_event.LaplaceDpEvent(1.0), dp_event.DiscreteLaplaceDpEvent(1.0, 1)


def composed(event, times=1):
    return pld.PLDAccountant().compose(event, times)


print("Laplace, epsilon at delta 0:", composed(LAPLACE).get_epsilon(0))
print("Laplace, delta at epsilon 1 and 50:", *(float(composed(LAPLACE).get_delta(e)) for e in (1.0, 50.0)))
print("Laplace, epsilon at delta 1e-15:", round(float(composed(LAPLACE).get_epsilon(1e-15)), 4))
print("discrete Laplace, once and ten times:", *(float(composed(DISCRETE, n).get_epsilon(0)) for n in (1, 10)))
one = pld.privacy_loss_distribution.from_laplace_mechanism(1.0)
print("the distribution itself:", round(float(one.get_epsilon_for_delta(0)), 4))
END

if ! diff "$folder/expected" "$folder/seen"; then
    echo "changed: the lines above that begin with > are what is seen now"
    exit 1
fi
cat "$folder/seen"
echo
cat <<'END'
dp-accounting 0.6.0: PLDAccountant gives a purely private Laplace release an infinite epsilon at delta = 0; from
delta = 1e-15 on it is 1.
END
