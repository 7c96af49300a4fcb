#!/usr/bin/env bash
# PyDP: the percentile of whole numbers is always 0.0.
#
# Packages: python-dp 1.1.5. Date: 2026-11-28.
#
# Guess before the run: Percentile(percentile=0.5, bounds 0 and 1000, dtype "int", which is the default) of 1, 2, ...,
# 1000 at epsilon 10 is about 500, as Median(dtype="int") of the same numbers is.
#
# Seen: it is the float 0.0, in every run and for every percentile, also where the lower bound is 100 (so 0.0 is outside
# of the bounds). With dtype="float" the same call is right. Median, Max and Min with "int" return whole numbers in the
# bounds.
#
# Why it matters: 0.0 is a plausible percentile of counts, and a constant passes every audit of privacy: it leaks
# nothing because it says nothing. An audit should look at whether the output varies at all. What to do: pass
# dtype="float", also for whole numbers, or use Median for the middle.

set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check \
    python-dp==1.1.5

cat >"$folder/expected" <<'END'
int 0.1 {0.0}
int 0.5 {0.0}
int 0.9 {0.0}
int, bounds 100 and 1000 {0.0}
float within 25 of 500: True
Median of int within 25 of 500: True
END

"$folder/venv/bin/python" -W ignore - >"$folder/seen" <<'END'
from pydp.algorithms.laplacian import Median, Percentile

DATA = list(range(1, 1001))


def percentiles(dtype, percentile, lower=0, runs=20):
    kind = {"int": int, "float": float}[dtype]
    options = dict(epsilon=10.0, lower_bound=kind(lower), upper_bound=kind(1000), dtype=dtype)
    return [Percentile(percentile=percentile, **options).quick_result([kind(x) for x in DATA]) for _ in range(runs)]


for percentile in (0.1, 0.5, 0.9):
    print("int", percentile, set(percentiles("int", percentile)))
print("int, bounds 100 and 1000", set(percentiles("int", 0.5, lower=100)))
print("float within 25 of 500:", all(abs(x - 500) < 25 for x in percentiles("float", 0.5)))
medians = [Median(epsilon=10.0, lower_bound=0, upper_bound=1000, dtype="int").quick_result(DATA) for _ in range(20)]
print("Median of int within 25 of 500:", all(abs(x - 500) < 25 for x in medians))
END

if ! diff "$folder/expected" "$folder/seen"; then
    echo "changed: the lines above that begin with > are what is seen now"
    exit 1
fi
cat "$folder/seen"
echo
cat <<'END'
python-dp 1.1.5: Percentile with dtype "int" (the default) returns 0.0 whatever the data, the percentile and the bounds.
END
