#!/usr/bin/env bash
# JAX Privacy: Gaussian noise for bfloat16 gradients has 128 values, none beyond 2.9 standard deviations.
#
# Packages: jax-privacy 2.0.0, jax and jaxlib 0.10.2, ml_dtypes 0.6.0, numpy 2.4.6 (Python 3.11). Date: 2026-11-28.
#
# Guess before the run: gaussian_privatizer draws in float32 and rounds to the type of the gradients, so that noise for
# bfloat16 has well over 200 values and reaches 3.9 standard deviations or more among a million draws, with mean 0.
#
# Seen: without its parameter dtype the noise is drawn by jax.random.normal in bfloat16 itself, from 7 random bits: a
# million draws have exactly 128 values, from -2.89 to 2.52, each about equally frequent, with mean -0.012. The smallest
# value is 15 % further out than the largest. For float16 there are 1024 values, up to 3.49. float32 is fine. Added to 0
# and to 1 (sensitivity 1), 87 % of the results of 1 are numbers that the results of 0 never are. The docstring of the
# correlated privatizer beside it says that the type of the noise follows the gradients; neither says what that leaves.
#
# Why it matters: an accountant of the Gaussian mechanism says (epsilon, delta) for noise of unbounded support; for
# these two inputs the delta is at least that share, whatever epsilon. Training in bfloat16 is common, and nothing
# warns. An audit that looks at a threshold of the sum may miss it; the events to look at are the sets of values. What
# to do: pass dtype=jnp.float32 to the privatizer, which then adds before it rounds: of such results of 1 fewer than 1 %
# were not seen among those of 0. Audit the type that is released.

set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check \
    jax-privacy==2.0.0 jax==0.10.2 jaxlib==0.10.2 ml-dtypes==0.6.0 numpy==2.4.6

cat >"$folder/expected" <<'END'
bfloat16 128 values from -2.890625 to 2.515625
  mean -0.012 share of the most frequent value 0.008
float16 1024 values from -3.486328125 to 3.181640625
  mean -0.003 share of the most frequent value 0.001
float32 has more than 900000 values: True
bfloat16, results of 1 that are none of 0: 0.867
with dtype=float32, fewer than 1 %: True
END

"$folder/venv/bin/python" -W ignore - >"$folder/seen" <<'END'
import jax
import jax.numpy as jnp
import numpy as np
from jax_privacy import noise_addition


def noised(value, kind, **options):
    gradients = {"w": jnp.full(1_000_000, value, kind)}
    privatizer = noise_addition.gaussian_privatizer(stddev=1.0, prng_key=jax.random.key(1), **options)
    released, _ = privatizer.update(gradients, privatizer.init(gradients))
    return np.asarray(released["w"]).astype(float)


for kind in (jnp.bfloat16, jnp.float16):
    noise = noised(0, kind)
    values, counts = np.unique(noise, return_counts=True)
    print(kind.__name__, len(values), "values from", values[0], "to", values[-1])
    print("  mean", round(noise.mean(), 3), "share of the most frequent value", round(counts.max() / 1e6, 3))
print("float32 has more than 900000 values:", len(np.unique(noised(0, jnp.float32))) > 900_000)
seldom = ~np.isin(noised(1, jnp.bfloat16), noised(0, jnp.bfloat16))
print("bfloat16, results of 1 that are none of 0:", round(seldom.mean(), 3))
wide = [noised(value, jnp.bfloat16, dtype=jnp.float32) for value in (0, 1)]
print("with dtype=float32, fewer than 1 %:", (~np.isin(wide[1], wide[0])).mean() < 0.01)
END

if ! diff "$folder/expected" "$folder/seen"; then
    echo "changed: the lines above that begin with > are what is seen now"
    exit 1
fi
cat "$folder/seen"
echo
cat <<'END'
jax-privacy 2.0.0 draws noise in the type of the gradients: for bfloat16 one of 128 values, at most 2.9 standard
deviations from 0.
END
