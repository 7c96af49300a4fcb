#!/usr/bin/env bash
# JAX: the counts of jnp.histogram stop growing at 2^24, for whole numbers too, and at 256 for bfloat16.
#
# Packages: jax and jaxlib 0.10.2, ml_dtypes 0.6.0, numpy 2.4.6 (Python 3.11). Date: 2026-11-28.
#
# Guess before the run: a histogram of 20 million equal int32 values counts 20 000 000, by whole numbers, as numpy does.
#
# Seen: the counts are floats of the type that JAX's default or the data have, increased one by one. Of 20 000 000 int32
# or int8 values 16 777 216 are counted, of 3000 float16 values 2048, of 3000 bfloat16 values 256. numpy counts all of
# them. The docstring shows counts with a point and says nothing of a limit. jnp.bincount counts whole numbers exactly.
#
# Why it matters: the noise of a private histogram is added to a count that has stopped, so the release is wrong by far
# more than its noise; and an audit whose two inputs lie above the limit sees one and the same count, that is no leak,
# where the code at a smaller size has one. What to do: count by jnp.bincount of the bins' numbers (whole numbers), or
# by numpy, and audit at sizes below the limit as well.

set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check \
    jax==0.10.2 jaxlib==0.10.2 ml-dtypes==0.6.0 numpy==2.4.6

cat >"$folder/expected" <<'END'
int32 20000000 counted 16777216 as float32
int8 20000000 counted 16777216 as float32
float16 3000 counted 2048 as float16
bfloat16 3000 counted 256 as bfloat16
numpy 20000000
jnp.bincount 20000000
END

"$folder/venv/bin/python" -W ignore - >"$folder/seen" <<'END'
import jax.numpy as jnp
import numpy as np

for dtype, n in ((jnp.int32, 20_000_000), (jnp.int8, 20_000_000), (jnp.float16, 3000), (jnp.bfloat16, 3000)):
    counts, _ = jnp.histogram(jnp.ones(n, dtype), bins=2, range=(0, 2))
    print(dtype.__name__, n, "counted", int(counts[1]), "as", counts.dtype)
print("numpy", int(np.histogram(np.ones(20_000_000, np.int8), bins=2, range=(0, 2))[0][1]))
print("jnp.bincount", int(jnp.bincount(jnp.ones(20_000_000, jnp.int32), length=2)[1]))
END

if ! diff "$folder/expected" "$folder/seen"; then
    echo "changed: the lines above that begin with > are what is seen now"
    exit 1
fi
cat "$folder/seen"
echo
cat <<'END'
jax 0.10.2: jnp.histogram counts in floats one by one, so a bin holds at most 2^24 = 16777216 (int32), 2048 (float16)
or 256 (bfloat16).
END
