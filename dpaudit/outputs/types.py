"""Types of outputs and of their parts.

Objects of other libraries are annotated with the libraries' own types, which are imported for type checkers alone:
whether an output is such an object is asked of its class, where the output is taken apart.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy import sparse

Array: TypeAlias = NDArray[np.generic]
"""An array of NumPy whose elements have any type."""
Type: TypeAlias = np.dtype[np.generic]
"""The type of the elements of an array of NumPy."""
Masked: TypeAlias = "np.ma.MaskedArray[tuple[int, ...], np.dtype[np.generic]]"
Mask: TypeAlias = NDArray[np.bool_]
Places: TypeAlias = NDArray[np.intp]
Sparse: TypeAlias = "sparse.sparray | sparse.spmatrix"
Values: TypeAlias = Sequence[Any]
"""Values at one place of many outputs, an element an output; elements may have any type."""
Batch: TypeAlias = Values | Array
"""Many outputs of a mechanism: a sequence, or an array with an output a row."""
Parts: TypeAlias = dict[str, Any]
"""Parts of one output by their names. Each is plain, or an object that is taken apart in turn."""
Flatten: TypeAlias = Callable[[Any], Any]
"""Maps an output of a registered type to plain values; what it returns is checked when it has."""
