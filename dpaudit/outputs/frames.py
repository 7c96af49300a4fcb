"""The table of libraries of frames and labelled arrays: which function reads objects of which class.

pandas and xarray are read directly, since they have an index, attributes or coordinates; frames of other libraries
through `narwhals`, and whatever exports an Arrow stream through the library that reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache, partial
from typing import Any, TypeAlias

from dpaudit.outputs import arrow, labelled_arrays, narwhals_frames, pandas_frames
from dpaudit.outputs.derived import with_additions
from dpaudit.outputs.metadata import KINDS, Flat

Reader: TypeAlias = Callable[[Any], Flat]
"""Takes an object of a library apart; a part may be an object that is taken apart in turn."""


@lru_cache(maxsize=KINDS)
def reader_of(kind: type) -> Reader | None:
    """Return the function that takes frames and labelled arrays of a class apart, or None for other classes.

    A class derived from one of a library is read as that, and with what it adds.
    """
    for base in kind.__mro__:
        library = base.__module__.partition(".")[0]
        read = _LIBRARIES.get(library, {}).get(base.__name__)
        if read is None and library == "pandas" and pandas_frames.shows_all(base):
            read = pandas_frames.of_pandas
        if read is not None:
            return read if kind is base else partial(with_additions, base, read)
    if hasattr(kind, "to_native") and kind.__module__.partition(".")[0] == "narwhals":
        return lambda value: value.to_native()
    # A stream that can be read once shows nothing until it is.
    if issubclass(kind, Iterator):
        return None
    if hasattr(kind, "__arrow_c_stream__") or hasattr(kind, "__dataframe__"):
        return narwhals_frames.of_frame
    if hasattr(kind, "__arrow_c_array__"):
        return narwhals_frames.of_stream
    return None


# Readers, by the names of classes, of objects without a frame's interface, or with more than that has.
_LIBRARIES: dict[str, Mapping[str, Reader]] = {
    "polars": {"LazyFrame": narwhals_frames.refuse_lazy},
    "pyarrow": {
        "Table": narwhals_frames.of_frame,
        "RecordBatch": narwhals_frames.of_record_batch,
        "Schema": arrow.schema,
        "Field": arrow.field,
        "DataType": str,
        "Array": narwhals_frames.of_array,
        "ChunkedArray": narwhals_frames.of_array,
        "Scalar": arrow.scalar,
    },
    "xarray": {
        "DataArray": labelled_arrays.xarray_array,
        "Variable": labelled_arrays.xarray_array,
        "Dataset": labelled_arrays.xarray_dataset,
        "DataTree": labelled_arrays.xarray_tree,
    },
    "dask": dict.fromkeys(("DataFrame", "Series", "Index"), lambda value: value.compute()),
    "awkward": dict.fromkeys(("Array", "Record"), labelled_arrays.awkward_array),
    "shapely": {"BaseGeometry": labelled_arrays.geometry},
}
