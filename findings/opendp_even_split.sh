#!/usr/bin/env bash
# OpenDP: an even split of a budget with a delta is refused for most numbers of queries.
#
# Packages: opendp 0.16.0. Date: 2026-11-28.
#
# Guess before the run: Context.compositor(privacy_loss=loss_of(epsilon=1.0, delta=1e-7), split_evenly_over=n) works for
# every n from 1 to 100, as it does for a budget without a delta.
#
# Seen: it works for 21 of these n and raises an error for 79, the first of them 9, 13, 15, 16, 17, 18 and 20; of 1 to
# 40, which is what this script tries, 23 are refused. The error is "unknown ordering between" two pairs, of which one
# has the larger epsilon and the other the larger delta, by units in the last place: the sums of the shares are compared
# with the budget as pairs, and are above it in one part and below it in the other. The same n for rho with this delta
# and for split_by_weights with equal weights. Without a delta no n is refused, and none with delta = 2^-24.
#
# Why it matters: who plans a release of 9 or 30 statistics under (epsilon, delta) gets an error about an ordering that
# has nothing to do with the data or the queries, and might leave out the delta, or the split, to get on. What to do:
# take a power of two for delta, or ask for a number of shares that works and leave some unused. The share is part of
# the claim that an audit tests, so write it down.

set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check \
    opendp==0.16.0

cat >"$folder/expected" <<'END'
epsilon and delta: 23 [9, 13, 15, 16, 17, 18, 20]
rho and delta: 23 [9, 13, 15, 16, 17, 18, 20]
by equal weights: 23 [9, 13, 15, 16, 17, 18, 20]
epsilon alone: 0 []
delta a power of two: 0 []
END

"$folder/venv/bin/python" -W ignore - >"$folder/seen" <<'END'
import opendp.prelude as dp

dp.enable_features("contrib")


def refused(split=lambda n: {"split_evenly_over": n}, **loss):
    numbers = []
    for n in range(1, 41):
        try:
            dp.Context.compositor(
                data=[1.0, 2.0],
                privacy_unit=dp.unit_of(contributions=1),
                privacy_loss=dp.loss_of(**loss),
                **split(n),
            )
        except dp.OpenDPException as error:
            assert "unknown ordering between" in str(error), error
            numbers.append(n)
    return len(numbers), numbers[:7]


print("epsilon and delta:", *refused(epsilon=1.0, delta=1e-7))
print("rho and delta:", *refused(rho=0.5, delta=1e-7))
print("by equal weights:", *refused(lambda n: {"split_by_weights": [1.0] * n}, epsilon=1.0, delta=1e-7))
print("epsilon alone:", *refused(epsilon=1.0))
print("delta a power of two:", *refused(epsilon=1.0, delta=2.0**-24))
END

if ! diff "$folder/expected" "$folder/seen"; then
    echo "changed: the lines above that begin with > are what is seen now"
    exit 1
fi
cat "$folder/seen"
echo
cat <<'END'
opendp 0.16.0 refuses an even split of (1, 1e-7) among n queries for 23 of the first 40 n, with an error about an
ordering; without a delta, or with a power of two, for none.
END
