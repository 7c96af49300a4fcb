#!/usr/bin/env bash
# ml_dtypes with numpy: a sum of small integers wraps around, where numpy's own small integers widen.
#
# Packages: ml_dtypes 0.6.0, numpy 2.4.6. Date: 2026-11-28.
#
# Guess before the run: the sum of an int4 array of 100 ones is 100, as int64, since numpy sums int8 and uint8 as int64
# and uint64.
#
# Seen: the sum is an int4: 8 ones give -8, 16 give 0 and 100 give 4. uint4 wraps at 16, and two ones of int2 give -2.
# The same in np.cumsum and sums along an axis, without a warning. int8 widens as guessed. (That sums of bfloat16 lose
# precision is in the README of ml_dtypes; that sums of the integers wrap is not.)
#
# Why it matters: flags and small categories are kept in such types to save memory. A count of them is taken modulo 16,
# so that its sensitivity is not 1 (one more record moves 7 to -8), and noise that is scaled to 1 protects nobody. An
# audit of the mechanism on pairs with few records does not see it. What to do: pass dtype=np.int64 to sums, or convert
# before; audit at sizes at which the type would overflow.

set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check \
    ml-dtypes==0.6.0 numpy==2.4.6

cat >"$folder/expected" <<'END'
int2 1 -2 -1 0 0 0 as int2
int4 1 2 7 -8 0 4 as int4
uint4 1 2 7 8 0 4 as uint4
int8 1 2 7 8 16 100 as int64
cumsum -8 along an axis -8 -8 -8
with dtype 8 100
END

"$folder/venv/bin/python" -W ignore - >"$folder/seen" <<'END'
import ml_dtypes
import numpy as np

for dtype in (ml_dtypes.int2, ml_dtypes.int4, ml_dtypes.uint4, np.int8):
    sums = [np.ones(n, dtype).sum() for n in (1, 2, 7, 8, 16, 100)]
    print(np.dtype(dtype).name, *sums, "as", sums[0].dtype)
ones = np.ones((3, 8), ml_dtypes.int4)
print("cumsum", np.cumsum(ones[0])[-1], "along an axis", *ones.sum(axis=1))
print("with dtype", *(int(np.ones(n, ml_dtypes.int4).sum(dtype=np.int64)) for n in (8, 100)))
END

if ! diff "$folder/expected" "$folder/seen"; then
    echo "changed: the lines above that begin with > are what is seen now"
    exit 1
fi
cat "$folder/seen"
echo
cat <<'END'
ml_dtypes 0.6.0 under numpy 2.4.6: sums of int2, int4 and uint4 stay in the type and wrap around without a warning.
END
