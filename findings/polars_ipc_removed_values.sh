#!/usr/bin/env bash
# Polars: an IPC file or a pickle of a frame holds texts and numbers that were removed from it.
#
# Packages: polars 2.1.0. Date: 2026-11-28.
#
# Guesses before the runs: the text of a row that was filtered out is not in what write_ipc writes, nor in a pickle; a
# count that was suppressed by when/then is null there and gone, and in any case gone after a sort.
#
# Seen: after filter(), a slice, or group_by with the rare group filtered out, of 1000 rows, the removed text (of 32
# characters) is in the IPC file, in the pickle and in serialize(). A number replaced by null through when/then stays
# under the null in all three; a sort removes the number and not the text. write_parquet and write_csv hold neither.
# Where one row of the thousand is left the files are clean: dead texts are collected where they are a large share of
# the buffer.
#
# Why it matters: dropping rare groups and suppressing small cells is what a release does last. Frames also go as
# pickles to worker processes and into caches. Whoever reads the bytes, not the frame, sees what was removed. It is no
# fault in the frame: the format leaves undefined what lies under a null or beside the views. What to do: publish
# Parquet or CSV, and look for a known removed value in the bytes of what is published.

set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"${PYTHON:-python3}" -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q --disable-pip-version-check \
    polars==2.1.0

cat >"$folder/expected" <<'END'
filtered: text in ipc, pickle, serialize; number in none;
sliced: text in ipc, pickle, serialize; number in none;
grouped and filtered: text in ipc, pickle, serialize; number in none;
suppressed: text in ipc, pickle, serialize; number in ipc, pickle, serialize;
suppressed and sorted: text in ipc, pickle, serialize; number in none;
one row left: text in none; number in none;
END

"$folder/venv/bin/python" -W ignore - >"$folder/seen" <<'END'
import io
import pickle
import struct

import polars as pl

NAME, COUNT = "a-name-that-one-person-has-alone", 77_777
groups = [NAME, *(f"a-name-that-many-people-have-{i}" for i in range(7))]
frame = pl.DataFrame({"name": [groups[0]] + [groups[1 + i % 7] for i in range(999)], "count": range(1000)})
frame = frame.with_columns(pl.when(pl.col("name") == NAME).then(COUNT).otherwise(pl.col("count")).alias("count"))


def written(frame, method, **options):
    file = io.BytesIO()
    getattr(frame, method)(file, **options)
    return file.getvalue()


def report(what, frame):
    assert NAME not in frame["name"].to_list()
    forms = {
        "ipc": written(frame, "write_ipc"),
        "pickle": pickle.dumps(frame),
        "serialize": frame.serialize(),
        "parquet": written(frame, "write_parquet", compression="uncompressed"),
        "csv": written(frame, "write_csv"),
    }
    held = {
        "text": [form for form, data in forms.items() if NAME.encode() in data],
        "number": [form for form, data in forms.items() if struct.pack("<q", COUNT) in data],
    }
    print(f"{what}:", *(f"{kind} in {', '.join(names) or 'none'};" for kind, names in held.items()))


rare = pl.col("name") == NAME
suppressed = frame.with_columns(pl.when(~rare).then(pl.col("name", "count")).name.keep())
report("filtered", frame.filter(~rare))
report("sliced", frame[1:])
report("grouped and filtered", frame.group_by("name").agg(pl.len()).filter(pl.col("len") > 1))
report("suppressed", suppressed)
report("suppressed and sorted", suppressed.sort("count"))
report("one row left", frame.tail(1))
END

if ! diff "$folder/expected" "$folder/seen"; then
    echo "changed: the lines above that begin with > are what is seen now"
    exit 1
fi
cat "$folder/seen"
echo
cat <<'END'
polars 2.1.0: what was filtered out (texts) or suppressed (texts and numbers) is still in IPC files, pickles and
serialize(), and not in Parquet or CSV.
END
