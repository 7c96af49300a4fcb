"""Types of outputs and of their parts, and the interfaces of other libraries that this room reads.

A protocol lists exactly the attributes and methods that are used here. None is checked at run time: whether an output
has an interface is asked of its class, where the output is taken apart.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

Array: TypeAlias = NDArray[np.generic]
"""An array of NumPy whose elements have any type."""
Type: TypeAlias = np.dtype[np.generic]
"""The type of the elements of an array of NumPy."""
Masked: TypeAlias = "np.ma.MaskedArray[tuple[int, ...], np.dtype[np.generic]]"
Mask: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]
Values: TypeAlias = Sequence[Any]
"""Values at one place of many outputs, an element an output; elements may have any type."""
Batch: TypeAlias = Values | Array
"""Many outputs of a mechanism: a sequence, or an array with an output a row."""
Parts: TypeAlias = dict[str, Any]
"""Parts of one output by their names. Each is plain, or an object that is taken apart in turn."""
Metadata: TypeAlias = Mapping[Hashable, Any]
"""Objects that a user attaches to a table or an array, by names."""
Flatten: TypeAlias = Callable[[Any], Any]
"""Maps an output of a registered type to plain values; what it returns is checked when it has."""


class Coordinates(Protocol):
    """A sparse matrix of SciPy as its entries; arrays have `coords`, matrices of older versions `row` and `col`."""

    data: Array
    coords: tuple[NDArray[np.integer], ...]
    row: NDArray[np.integer]
    col: NDArray[np.integer]

    def sum_duplicates(self) -> None:
        """Add entries of one place up, and sort entries by their places."""


class Sparse(Protocol):
    """A sparse matrix of SciPy; its `format` says which of the arrays it has."""

    format: str
    shape: tuple[int, ...]
    dtype: Type
    nnz: int
    data: Array
    indices: NDArray[np.integer]
    indptr: NDArray[np.integer]
    offsets: NDArray[np.integer]
    has_canonical_format: bool

    def tocoo(self, copy: bool) -> Coordinates:
        """Return the matrix by its entries."""


class PandasType(Protocol):
    """A type of columns that pandas adds to those of NumPy."""

    name: str
    _is_numeric: bool
    _is_boolean: bool


class PandasColumn(Protocol):
    """A Series, an Index or an array of pandas; `cat` is that of categories, `crs` that of geometries."""

    name: Hashable
    dtype: Type | PandasType
    cat: PandasCategories
    crs: Hashable

    def __len__(self) -> int: ...

    def to_numpy(self, dtype: DTypeLike | None = None) -> NDArray[np.object_]:
        """Return the values as an array of NumPy."""


class MaskedColumn(Protocol):
    """A column of pandas that keeps numbers and where they are missing."""

    _data: Array
    _mask: Mask


class PandasIndex(PandasColumn, Protocol):
    """An index of pandas; one of several levels has `levels` and `codes`, one of times `freqstr`."""

    names: Sequence[Hashable]
    nlevels: int
    dtypes: Sequence[Type | PandasType]
    levels: Sequence[Sequence[Hashable]]
    codes: Sequence[Places]
    freq: Any
    freqstr: str

    def __iter__(self) -> Iterator[Hashable]: ...

    def equals(self, other: PandasIndex) -> bool:
        """Say whether another index has the same labels."""


class PandasCategories(Protocol):
    """A Categorical of pandas, or the accessor `cat` of a column."""

    categories: PandasIndex
    ordered: bool
    codes: Sequence[int]


class PandasFlags(Protocol):
    """The flags of a table of pandas."""

    allows_duplicate_labels: bool


class PandasTable(Protocol):
    """A Series or a DataFrame of pandas."""

    attrs: Metadata
    flags: PandasFlags
    index: PandasIndex
    ndim: int
    _metadata: list[str]

    def __len__(self) -> int: ...


class PandasSeries(PandasTable, PandasColumn, Protocol):
    """A Series of pandas."""


class PandasFrame(PandasTable, Protocol):
    """A DataFrame of pandas."""

    columns: PandasIndex
    dtypes: Mapping[Hashable, Type | PandasType]

    def items(self) -> Iterator[tuple[Hashable, PandasColumn]]:
        """Return the columns with their names."""

    def _get_column_array(self, place: int) -> Array: ...
    def __getitem__(self, name: Hashable) -> PandasColumn: ...


class PolarsColumn(Protocol):
    """A Series of polars."""

    flags: Mapping[str, bool]

    def null_count(self) -> int:
        """Return how many values are missing."""

    def to_arrow(self) -> ArrowArray:
        """Return the column in Arrow's memory."""


class ArrowType(Protocol):
    """A type of Arrow; one of containers has fields."""

    num_fields: int
    bit_width: int

    def field(self, place: int) -> ArrowField:
        """Return the field at a place."""


class ArrowField(Protocol):
    """A field of a schema of Arrow."""

    name: str
    type: ArrowType
    nullable: bool
    metadata: Mapping[bytes, bytes] | None


class ArrowSchema(Protocol):
    """A schema of Arrow."""

    names: Sequence[str]
    metadata: Mapping[bytes, bytes] | None

    def __len__(self) -> int: ...

    def field(self, place: int) -> ArrowField:
        """Return the field at a place."""

    def to_string(self, show_schema_metadata: bool) -> str:
        """Return the schema as it is printed."""


class ArrowNulls(Protocol):
    """The places of missing values in an array of Arrow."""

    def to_numpy(self, zero_copy_only: bool) -> Mask:
        """Return the values as an array of NumPy."""


class ArrowArray(Protocol):
    """An array of Arrow; one of several pieces has `chunks`, one that numbers its labels a `dictionary`."""

    type: ArrowType
    offset: int
    null_count: int
    chunks: Sequence[ArrowArray]
    dictionary: ArrowArray
    values: ArrowArray

    def __len__(self) -> int: ...

    def buffers(self) -> list[bytes | None]:
        """Return the memory of the array, by its purpose."""

    def is_null(self) -> ArrowNulls:
        """Return which values are missing."""

    def field(self, place: int) -> ArrowArray:
        """Return the field at a place."""

    def to_pylist(self) -> list[Any]:
        """Return the values as Python has them."""


class ArrowTable(Protocol):
    """A table of Arrow."""

    schema: ArrowSchema

    def column(self, place: int) -> ArrowArray:
        """Return the column at a place."""


class ArrowScalar(Protocol):
    """One value of Arrow."""

    type: ArrowType

    def as_py(self) -> Any:
        """Return the value as Python has it."""


class XarrayArray(Protocol):
    """An array of xarray; a variable lacks the name and the coordinates."""

    name: Hashable
    values: Array
    dims: Sequence[Hashable]
    dtype: Type
    coords: Mapping[Hashable, XarrayVariable]
    attrs: Metadata
    encoding: Metadata


class XarrayVariable(Protocol):
    """An entry of a dataset or of coordinates of xarray."""

    variable: XarrayArray


class XarrayDataset(Protocol):
    """Arrays of xarray by their names."""

    data_vars: Mapping[Hashable, XarrayVariable]
    coords: Mapping[Hashable, XarrayVariable]
    attrs: Metadata
    encoding: Metadata
    sizes: Mapping[Hashable, int]

    def __getitem__(self, name: Hashable) -> XarrayVariable: ...


class XarrayTree(Protocol):
    """Datasets of xarray by their paths."""

    name: str | None

    def to_dict(self) -> Mapping[str, XarrayDataset]:
        """Return the datasets by their paths."""


class AwkwardForm(Protocol):
    """The composition of a ragged array; its `type` is printed."""

    type: Hashable


class AwkwardLayout(Protocol):
    """The content of a ragged array; that of a record is a place in an `array`."""

    form: AwkwardForm
    array: AwkwardLayout


class AwkwardArray(Protocol):
    """A ragged array, or a record of one."""

    layout: AwkwardLayout
    attrs: Metadata

    def to_list(self) -> list[Any]:
        """Return the array as lists."""


class Geometry(Protocol):
    """A geometry of shapely."""

    geom_type: str
