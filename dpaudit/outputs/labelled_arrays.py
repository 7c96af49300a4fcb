"""Arrays with coordinates and attributes (xarray), ragged arrays (awkward) and geometries (shapely)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpaudit.outputs.metadata import Flat, WithMetadata, converted
from dpaudit.outputs.missing import KINDS_OF_ARRAYS
from dpaudit.outputs.types import Parts

if TYPE_CHECKING:
    import awkward
    import shapely
    import xarray as xr


def xarray_array(value: xr.DataArray | xr.Variable) -> WithMetadata:
    """Return the values of an array of xarray, with its name, dimensions, coordinates and attributes."""
    return converted(_elements(value), value, _of_xarray, _coordinates)


def _elements(value: xr.DataArray | xr.Variable) -> Flat:
    array = np.asarray(value.values)
    if array.dtype.kind in KINDS_OF_ARRAYS:
        return array
    return {"shape": array.shape, "values": tuple(array.ravel().tolist())}


def _of_xarray(value: xr.DataArray | xr.Variable) -> Parts:
    found: Parts = {"dims": tuple(value.dims), "dtype": str(value.dtype)}
    if hasattr(value, "name") and value.name is not None:
        found["name"] = value.name
    return {**found, **_described(value)}


def _described(value: xr.DataArray | xr.Variable | xr.Dataset) -> Parts:
    """Return attributes and encoding that are not empty; both may hold what a user's class adds."""
    found: Parts = {}
    if value.attrs:
        found["attrs"] = dict(value.attrs)
    if value.encoding:
        found["encoding"] = dict(value.encoding)
    return found


def _coordinates(value: xr.DataArray | xr.Variable | xr.Dataset) -> Parts:
    """Return the coordinates of an array or a dataset; a variable of xarray has none."""
    if not hasattr(value, "coords") or not value.coords:
        return {}
    return {"coords": {name: value.coords[name].variable for name in value.coords}}


def xarray_dataset(value: xr.Dataset) -> WithMetadata:
    """Return the arrays of a dataset of xarray by their names."""
    found = {name: value[name].variable for name in value.data_vars}
    return converted(found, value, _coordinates, _described, _sizes)


def _sizes(value: xr.Dataset) -> Parts:
    return {"dims": dict(value.sizes)}


def xarray_tree(value: xr.DataTree) -> Parts:
    """Return the datasets of a tree of xarray by their paths."""
    return {"name": value.name, "nodes": dict(value.to_dict())}


def awkward_array(value: awkward.Array | awkward.Record) -> WithMetadata:
    """Return a ragged array as lists, with its types, parameters and attributes."""
    return converted(value.to_list(), value, _of_awkward)


def _of_awkward(value: awkward.Array | awkward.Record) -> Parts:
    layout = value.layout
    # A record is an entry of an array of records.
    form = layout.form if hasattr(layout, "form") else layout.array.form
    found: Parts = {"type": str(form.type)}
    if value.attrs:
        found["attrs"] = dict(value.attrs)
    return found


def geometry(value: shapely.Geometry) -> Parts:
    """Return a geometry of shapely by its type, its coordinates and its well-known binary form."""
    import shapely

    return {
        "type": value.geom_type,
        "coordinates": shapely.get_coordinates(value, include_z=True).tolist(),
        "form": shapely.to_wkb(value, include_srid=True),
    }
