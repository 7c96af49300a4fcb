"""Wrong datasets, and what is said of each: the parameter, what is wrong, and what to give instead."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpaudit
from dpaudit.errors import InputError
from tests.support.grouped import grouped

FRAME = pd.DataFrame({"user": [1, 1, 2], "age": [31, 32, 55], "city": ["Aa", "Bb", "Aa"]})


def with_categories() -> pd.DataFrame:
    return FRAME.assign(user=pd.Categorical([1, 1, 2], categories=[1, 2, 3]))


WRONG: dict[str, tuple[Any, dict[str, Any], str]] = {
    "an empty list": ([], {}, "data must hold at least one record, got an empty list"),
    "one record that nothing replaces": (
        [object()],
        {"relation": "replace-one"},
        "data has no pair of neighbours by relation: its records are equal, and of a kind of which no others are made",
    ),
    "a table without rows": (FRAME.iloc[:0], {}, "data must hold at least one record, got an empty DataFrame"),
    "a table without columns": (pd.DataFrame(index=[0, 1]), {}, "data must hold at least one column"),
    "mixed types": (
        [31, 47, "unknown", 60],
        {},
        "data must hold records of one kind: row 0 is of kind number, row 2 of kind text; convert one of them, or "
        "leave such rows out",
    ),
    "mixed types in a column": (
        pd.DataFrame({"age": [31, "unknown", 60]}),
        {},
        "data must hold in column 'age' values of one kind: row 0 is of kind number, row 1 of kind text",
    ),
    "records of different fields": (
        [(1, 2), (3,)],
        {},
        "data must hold records of the same fields: row 0 has 2 fields, of other names or number, row 1 has 1 field",
    ),
    "columns of different lengths": (
        {"age": [31, 47], "city": ["Aa"]},
        {},
        "data must hold columns of one length: 'age' has 2, 'city' has 1",
    ),
    "a dictionary of numbers": (
        {"age": 31},
        {},
        "data must be a dictionary of columns: 'age' has a value of type int; pass a list or an array",
    ),
    "a column twice": (
        pd.DataFrame([[1, 2]], columns=["age", "age"]),
        {},
        "data must have columns of different names; 'age' stands twice",
    ),
    "one text": ("31,47,60", {}, "got a str; it is one value and no dataset: pass a list of records"),
    "one number": (31, {}, "got a int; it is one value and no dataset"),
    "an array of no axes": (np.array(31), {}, "data must be an array of records, got one value"),
    "a generator": ((x for x in [31, 47]), {}, "got a generator; it would be used up by one run: pass list"),
    "a kind that is not known": (
        {31, 47},
        {},
        "got a set; to use it, say how its records become one of these and back: dpaudit.register_dataset(set, "
        "lambda data: ..., lambda records: set(...))",
    ),
    "a masked array": (np.ma.array([1, 2]), {}, "data must be a plain array, got a MaskedArray: pass np.asarray(data)"),
    "bounds reversed": ([31, 47], {"bounds": (100, 0)}, "got (100, 0): did you mean (0, 100)?"),
    "bounds that are one": ([31, 47], {"bounds": (5, 5)}, "got (5, 5), which allows a single value"),
    "infinite bounds": (
        [31, 47],
        {"bounds": (0, float("inf"))},
        "bounds must be pairs of finite numbers; leave them out",
    ),
    "bounds as text": ([31, 47], {"bounds": "0,100"}, "bounds must be a pair (low, high) with low < high"),
    "too many bounds": (FRAME, {"bounds": [(0, 1)] * 3}, "there are 2 columns of numbers"),
    "bounds of a column that is not there": (
        FRAME,
        {"bounds": {"agee": (0, 100)}},
        "bounds must name a column of data, got 'agee'; there are user, age, city; did you mean age?",
    ),
    "bounds of a text": (
        FRAME,
        {"bounds": {"city": (0, 1)}},
        "bounds are for numbers, and column 'city' holds text: leave it out of them",
    ),
    "bounds of texts": (
        ["Aa", "Bb"],
        {"bounds": (0, 1)},
        "bounds are for numbers, and data has no column of numbers alone (the values: text): ",
    ),
    "a unit that is not there": (
        FRAME,
        {"unit": "usr"},
        "unit must name a column of data, got 'usr'; there are user, age, city; did you mean user?",
    ),
    "a unit of values": ([31, 47], {"unit": "user"}, "unit must name no column, for a record of data is one value"),
    "a unit in no row": (
        with_categories(),
        {"unit": "user"},
        "unit names a column that knows 1 unit(s) in no row, which the mechanism could count: take them out with "
        "data['user'].cat.remove_unused_categories()",
    ),
    "too few units": ([31, 47], {"unit": ["x"]}, "1 names were given for 2 rows"),
    "a unit that is no name": ([31, 47], {"unit": 7}, "unit must be the name of a column of the data, or a list"),
    "a group larger than the data": (
        [31, 47],
        {"group": 3},
        "group must be at most 2, the number of records in data; got 3",
    ),
    "no group": ([31, 47], {"group": 0}, "group must be an integer >= 1"),
    "a relation of samples": ([31, 47], {"relation": "replace-private"}, "needs samples with public examples"),
    "a relation that is none": ([31, 47], {"relation": "close"}, "relation must be one of replace-one, add-remove-one"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_dataset_is_refused(name: str) -> None:
    data, options, message = WRONG[name]
    with pytest.raises(InputError) as caught:
        dpaudit.neighbours_of(data, **options)
    assert message in str(caught.value)
    assert "31" not in str(caught.value).replace("register", "")  # no value of the data


def mechanism(data: Any, rng: np.random.Generator) -> float:
    return len(data) + float(rng.laplace())


AUDITS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "pairs too": (mechanism, {"data": [31], "pairs": [(1, 2)]}, "pairs must be left out where data is given"),
    "nothing": (mechanism, {}, "pairs must be given, or data to make them of"),
    "an empty dataset": (mechanism, {"data": []}, "data must hold at least one record"),
}


@pytest.mark.parametrize("name", AUDITS)
def test_a_wrong_dataset_is_refused_before_any_run(name: str) -> None:
    source, options, message = AUDITS[name]
    with pytest.raises(InputError, match=message):
        dpaudit.audit_privacy(source, **grouped(epsilon=1.0, **options))


def test_a_learner_takes_no_dataset() -> None:
    learner = dpaudit.pac.get_learner("parity-private", epsilon=1.0, dimension=2)
    with pytest.raises(InputError, match="data is for mechanisms that take it, and a learner takes samples"):
        dpaudit.audit_privacy(learner, data=[31])


ONE_VALUE = io.BytesIO()
np.save(ONE_VALUE, np.float64(31.0))
FILES: dict[str, tuple[str, bytes | None, str]] = {
    "an empty file": ("empty.csv", b"", "data must hold at least one record, and .*empty.csv is empty"),
    "a first line alone": ("head.csv", b"age,city\n", "data must hold at least one record, and .*head.csv holds none"),
    "another format": ("ages.xlsx", b"x", "data must be a file .csv, .tsv, .parquet, .npy"),
    "no file": ("agess.csv", None, "a file that is there, got .*agess.csv.; did you mean ages.csv"),
    "no array": ("broken.npy", b"age", r"data cannot be read: .* is no well-formed .npy file \(ValueError\)"),
    "one value": ("one.npy", ONE_VALUE.getvalue(), "data must be an array of records, and .*one.npy holds one value"),
    "no names": ("bare.csv", b"1,2\n3,4\n", "header must be given: the first line of .*bare.csv"),
    "no names, by tabs": ("bare.tsv", b"1\t2\n3\t4\n", "header must be given: the first line of .*bare.tsv"),
    "a name twice": ("twice.csv", b"x,x\n1,2\n", "columns of different names, and two of .*twice.csv have one name"),
    "commas that part a number": ("parts.csv", b"x\n1,5\n2,5\n2,25\n", "more values than that has names"),
    "lines that are too long": ("long.csv", b"x,y\n1,5,3\n2,5,3\n2,2,4\n", "more values than that has names"),
    "a short line": ("short.csv", b"x,y\n1,2\n\n3\n4,5\n", "line 4 of .*short.csv is too short"),
    "tabs": ("tabs.csv", b"x\ty\n1\t2\n", r"tabs.csv has tabs: .* pandas.read_csv\(.*, sep='.t'\)"),
    "bars": ("bars.csv", b"x|y\n1|2\n", r"bars.csv has bars: .* pandas.read_csv\(.*, sep='\|'\)"),
    "semicolons": ("semi.csv", b"x;y\n1;2\n", r"semi.csv has semicolons: .* sep=';'\), and decimal=','"),
    "ragged lines": ("ragged.csv", b"a,b\n1,2\n31,4,5\n", r"is no well-formed .csv file \(ParserError\)"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_wrong_file_is_refused(name: str, tmp_path: Path) -> None:
    file, content, message = FILES[name]
    (tmp_path / "ages.csv").write_text("age\n31\n")
    if content is not None:
        (tmp_path / file).write_bytes(content)
    with pytest.raises(InputError, match=message):
        dpaudit.read_dataset(tmp_path / file)


def test_missing_values_and_names_with_numbers_among_them_are_read(tmp_path: Path) -> None:
    (tmp_path / "wide.csv").write_text('\ufeffcity,2019,2020\n\n"a, b",1,\nc,2,\n', encoding="utf-8")
    found = dpaudit.read_dataset(tmp_path / "wide.csv")
    assert (list(found.columns), found.shape) == (["city", "2019", "2020"], (2, 3))


def test_names_with_digits_and_texts_with_bars_are_read(tmp_path: Path) -> None:
    (tmp_path / "some.csv").write_text(",3d,2nd,A12,Q1 2020\n0,a,b,c,d\n")
    assert dpaudit.read_dataset(tmp_path / "some.csv").shape == (1, 5)
    (tmp_path / "bars.csv").write_text("text\na|b\nc\n")
    assert dpaudit.read_dataset(tmp_path / "bars.csv").shape == (2, 1)


RECORDS = {
    "a number": "Ann,34\nBob,21\n",
    "a birth year": "Ann,1987\nBob,1990\nCid,2001\n",
    "a date": "Ann,x,2020-01-31\nBob,y,2021-02-28\n",
    "an address": "ann@example.org,x\nbob@example.org,y\n",
    "a word of two": "Ann,yes\nBob,no\n",
    "a sum of money": "Ann,$1.200\nBob,$7\n",
    "a number with a unit": "Ann,12 kg\nBob,13 kg\n",
    "a time": "Ann,12:30\nBob,13:00\n",
    "a telephone number": "Ann,+49 30 1234\nBob,+49 30 99\n",
    "a date in words": "Ann,3 Jan 2020\nBob,4 May 2021\n",
    "a float with an exponent": "Ann,1e5\nBob,2e6\n",
    "an identifier": "Ann,550e8400-e29b-41d4-a716-446655440000\nBob,550e8400-e29b-41d4-a716-446655440001\n",
    "a missing value": "Ann,NaN\nBob,3\n",
    "a value that recurs": "Ann,north\nBob,south\nCid,north\n",
}


@pytest.mark.parametrize("kind", RECORDS)
def test_a_first_line_that_looks_like_a_record_is_asked_about(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "people.csv"
    path.write_text(RECORDS[kind])
    with pytest.raises(InputError, match=r"header must be given: .* looks like a record") as caught:
        dpaudit.read_dataset(path)
    for cell in re.findall(r"[^,\n\"]+", RECORDS[kind].partition("\n")[0]):
        assert cell not in str(caught.value).replace(str(path), "")
    records = RECORDS[kind].count("\n")
    if kind == "a decimal comma":  # it is told how to read them, and shows none
        for header in (True, False):
            with pytest.raises(InputError, match=r"column 1 of 2 of .* has decimal commas") as caught:
                dpaudit.read_dataset(path, header=header)
            assert "3,5" not in str(caught.value)
        return
    assert len(dpaudit.read_dataset(path, header=False)) == records
    assert list(dpaudit.read_dataset(path, header=False).columns[:2]) == ["0", "1"]
    assert len(dpaudit.read_dataset(path, header=True)) == records - 1


def test_a_header_is_of_lines_alone(tmp_path: Path) -> None:
    np.save(tmp_path / "ages.npy", np.arange(3.0))
    with pytest.raises(InputError, match=r"header is for .csv and .tsv; .*ages.npy"):
        dpaudit.read_dataset(tmp_path / "ages.npy", header=True)


def test_integers_beyond_floats_are_refused(tmp_path: Path) -> None:
    (tmp_path / "large.csv").write_text("age\n31\n" + "9" * 420 + "\n")
    for data in (dpaudit.read_dataset(tmp_path / "large.csv"), [31, 10**420]):
        with pytest.raises(InputError, match=r"data must hold .*numbers that are at most 1.8e308") as caught:
            dpaudit.neighbours_of(data)
        assert "99" not in str(caught.value)


def test_objects_are_never_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([{"age": 31}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match=r"is no well-formed \.npy file"):
        dpaudit.read_dataset(tmp_path / "objects.npy")


def test_files_are_read(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "people.csv", index=False)
    assert dpaudit.read_dataset(tmp_path / "people.csv").equals(FRAME)
    FRAME.to_csv(tmp_path / "people.tsv", index=False, sep="\t")
    assert dpaudit.read_dataset(str(tmp_path / "people.tsv")).equals(FRAME)
    np.save(tmp_path / "ages.npy", FRAME["age"].to_numpy())
    assert dpaudit.read_dataset(tmp_path / "ages.npy").tolist() == [31, 32, 55]


def test_a_parquet_file_is_read_or_what_reads_it_is_told(tmp_path: Path) -> None:
    try:
        FRAME.to_parquet(tmp_path / "people.parquet")
    except ImportError:
        (tmp_path / "people.parquet").write_bytes(b"PAR1")
        with pytest.raises(InputError, match="pip install pyarrow"):
            dpaudit.read_dataset(tmp_path / "people.parquet")
    else:
        assert dpaudit.read_dataset(tmp_path / "people.parquet").equals(FRAME)


SCORES = pd.DataFrame({"age": [4242, 1717]})
LINES: dict[str, tuple[dict[str, Any], str]] = {
    "eps": ({"pairs": [(1, 2)], "eps": 1.0}, "there is no argument 'eps', but .*; write epsilon=1.0"),
    "another name of data": ({"dataset": SCORES, "epsilon": 1.0}, "no argument 'dataset', but .*; write data=data"),
    "one pair by another name": (
        {"pair": (1, 2), "epsilon": 1.0},
        r"no argument 'pair', but .*; write pairs=\[\(1, 2\)\]",
    ),
    "a slip": ({"pairs": [(1, 2)], "epsilon": 1.0, "trails": 9}, "no argument 'trails', but .*; did you mean trials"),
    "a bare pair": ({"pairs": (1, 2), "epsilon": 1.0}, r"this is one pair: write pairs=\[\(data, neighbour\)\]"),
    "a bare pair of lists": (
        {"pairs": ([0, 1], [0, 2]), "epsilon": 1.0},
        r"one pair: write pairs=\[\(data, neighbour\)\]",
    ),
    "a bare pair of frames": (
        {"pairs": (SCORES, SCORES[:1]), "epsilon": 1.0},
        r"one pair: write pairs=\[\(data, neigh",
    ),
    "a bare Pair": (
        {"pairs": dpaudit.Pair(1, 2), "epsilon": 1.0},
        r"this is one pair: write pairs=\[\(data, neighbour\)\]",
    ),
    "a frame": (
        {"pairs": SCORES, "epsilon": 1.0},
        "got a DataFrame; if it is one dataset, write data=data in its place",
    ),
    "an array": (
        {"pairs": np.array([[4242, 1], [2, 3]]), "epsilon": 1.0},
        "got a ndarray; if it is one dataset, write data=",
    ),
    "columns": ({"pairs": {"age": [4242]}, "epsilon": 1.0}, "got a dict; if it is one dataset, write data=data"),
    "a list of records": (
        {"pairs": [4242, 2, 3], "epsilon": 1.0},
        r"pair 0 must be a tuple \(data, neighbour\), got one of type int; if they are the records of one",
    ),
    "a list of tuples": (
        {"pairs": [(4242, 2, 3)], "epsilon": 1.0},
        "pair 0 must be .*, got one of type tuple of length 3; if they are the records of one",
    ),
    "mu": ({"pairs": [(1, 2)], "mu": 1.0}, r"no argument 'mu', .*; write claim=dpaudit.PrivacyClaim.gaussian\(1.0\)"),
    "rho": ({"pairs": [(1, 2)], "rho": 1}, r"no argument 'rho', .*; write claim=.*\.zero_concentrated\(1\)"),
    "a huge integer": ({"pairs": [(1, 2)], "epsilon": 10**400}, "epsilon must be a number that a float can hold"),
    "no path": ({"pairs": [(1, 2)], "epsilon": 1.0, "continued": 5}, "continued must be the path of a file, got 5"),
    "bounds as text": ({"data": SCORES, "bounds": "0,100", "epsilon": 1.0}, r"; write bounds=\(0.0, 100.0\)"),
    "bounds of a column": (
        {"data": SCORES, "bounds": "age=0,9", "epsilon": 1.0},
        r"write bounds=\{'age': \(0.0, 9.0\)\}",
    ),
    "bounds as a word": (
        {"data": SCORES, "bounds": "all", "epsilon": 1.0},
        r"write bounds=\(0, 100\), or bounds=\{'age'",
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_the_error_shows_the_line_to_write(name: str) -> None:
    arguments, message = LINES[name]
    with pytest.raises(InputError, match=message) as caught:
        dpaudit.audit_privacy(mechanism, **grouped(**arguments))
    assert "4242" not in str(caught.value)


def test_an_argument_that_is_not_there_is_a_type_error_too() -> None:
    with pytest.raises(TypeError, match="eps"):
        dpaudit.audit_privacy(mechanism, [([1], [2])], eps=1.0)  # type: ignore[call-arg]


def test_pairs_in_a_tuple_are_pairs() -> None:
    for pairs in (((0, 1), (1, 2)), [[0, 1], [1, 2]], (dpaudit.Pair(0, 1),)):
        finding = dpaudit.audit_privacy(lambda data, rng: data + rng.laplace(), pairs, epsilon=1.0, trials=20)
        assert finding.pairs == len(pairs)


COMMAS = {
    "decimal commas": (',price\n1,"1,5"\n2,"20,25"\n3,\n', ".csv", "has decimal commas, .*, decimal=','"),
    "decimal commas by tabs": ("id\tprice\n1\t1,5\n2\t1.000,25\n", ".tsv", r"decimal commas, .*sep='\\t', decimal=','"),
    "thousands": ('id,pay\n1,"1,500"\n2,"12,000.5"\n', ".csv", "has commas between thousands, .*, thousands=','"),
    "semicolons": ("id;price\n1;1,5\n", ".csv", "has semicolons: .*sep=';'.*, and decimal=',' if its numbers"),
}


@pytest.mark.parametrize("name", COMMAS)
def test_commas_in_numbers_get_a_hint(name: str, tmp_path: Path) -> None:
    content, suffix, message = COMMAS[name]
    (tmp_path / f"prices{suffix}").write_text(content)
    with pytest.raises(InputError, match=message) as caught:
        dpaudit.read_dataset(tmp_path / f"prices{suffix}")
    assert "20,25" not in str(caught.value)


def test_commas_in_texts_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "texts.csv").write_text('id,place\n1,"1,5"\n2,"Aa, Bb"\n')
    assert list(dpaudit.read_dataset(tmp_path / "texts.csv")["place"]) == ["1,5", "Aa, Bb"]
