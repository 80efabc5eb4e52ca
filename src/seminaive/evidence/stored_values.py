"""Values as JSON and array bytes, and back: what `storage` keeps in a file.

A value is either itself (``null``, ``true``, ``3``, ``0.5``, ``"text"``) or a list that opens with what it is
(``["tuple", 1, 2]``, ``["array", "<f8", [2, 3], "C"]``). The bytes of arrays go elsewhere, in the order in which the
arrays occur, so there are no offsets to point astray.
"""

from __future__ import annotations

import dataclasses
import io
import math
import re
import struct
import sys
from collections import Counter
from collections.abc import Callable
from datetime import date, datetime
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from seminaive.evidence.known_classes import ESTIMATORS, RECORDS, is_registered, name_of, registered

__all__ = ["decode_value", "encode_value", "number_of_json"]

DEEPEST = 50

UNITS = "Y|M|W|D|h|m|s|ms|us|ns|ps|fs|as"
DTYPES = re.compile(
    rf"\|b1|\|[iu]1|<[iu][248]|<f[248]|<U\d{{1,9}}|\|S\d{{1,9}}|<[Mm]8(\[\d{{0,9}}({UNITS})\])?", re.ASCII
)
HINTS = {"RandomState": "; use an int", "Generator": "; use an int"}

Inner = Callable[[Any], Any]


# --- to JSON and array bytes ------------------------------------------------------------------------------------------


def encode_value(value: Any, where: str, arrays: list[bytes], depth: int = 0) -> Any:
    """The JSON form of a value; ``where`` says how to reach it, as in ``parameter weights[3]``."""
    if depth > DEEPEST:
        raise _not_storable(where, f"it is nested more than {DEEPEST} deep, or contains itself")
    kind = type(value)

    def inner(part: Any, step: str) -> Any:
        return encode_value(part, where + step, arrays, depth + 1)

    if value is None or kind is bool:
        return value
    if kind is int:
        return value if abs(value) < 2**63 else ["int", hex(value)]
    if kind is float:
        return value if math.isfinite(value) else ["float", struct.pack("<d", value).hex()]
    if kind is str:
        return _encode_text(value)
    if kind is bytes:
        return ["bytes", value.hex()]
    if kind is date:
        return ["date", value.isoformat()]
    if kind is datetime and value.tzinfo is None:
        return ["datetime", value.isoformat(), value.fold]
    if kind is list or kind is tuple:
        return [kind.__name__, *(inner(part, f"[{i}]") for i, part in enumerate(value))]
    if kind is dict:
        return ["dict", *([inner(key, ".keys()"), inner(part, _step(key))] for key, part in value.items())]
    if kind is np.str_ or kind is np.bytes_:
        return ["numpy", kind.__name__, inner(value[:], "")]  # .item() would lose zeros at the end
    if issubclass(kind, np.generic):
        stored = _stored_dtype(value.dtype, where)
        return ["scalar", stored.str, np.asarray(value).astype(stored).tobytes().hex()]
    if kind is np.ndarray and value.dtype == object:
        if any(isinstance(item, (np.ndarray, list, tuple, dict)) for item in value.flat):
            raise _not_storable(where, "object arrays of containers are not storable; use a list")
        items = [inner(item, f".flat[{i}]") for i, item in enumerate(value.flat)]
        return ["objects", list(value.shape), *items]
    if kind is np.ndarray:
        return _encode_array(value, where, arrays)
    if is_registered(RECORDS, kind):
        fields = [[name, inner(getattr(value, name), f".{name}")] for name in _field_names(kind)]
        return ["record", name_of(kind), *fields]
    if is_registered(ESTIMATORS, kind):
        return _encode_estimator(value, where, inner)
    hint = HINTS.get(kind.__name__, "")
    raise _not_storable(where, f"values of type {kind.__name__} are not storable{hint}")


def _not_storable(where: str, reason: str) -> ValueError:
    word, _, path = where.partition(" ")
    return ValueError(f"cannot save {word} '{path}': {reason}")


def _step(key: object) -> str:
    return f"[{key[:40]!r}]" if type(key) is str else "[...]"


def _encode_text(text: str) -> Any:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:  # lone surrogates, which UTF-8 has no place for
        return ["str", text.encode("utf-8", "surrogatepass").hex()]
    return text


def _stored_dtype(dtype: np.dtype[Any], where: str) -> np.dtype[Any]:
    stored = dtype.newbyteorder("<")
    if dtype.itemsize == 0 or not DTYPES.fullmatch(stored.str):
        raise _not_storable(where, f"NumPy values of type {dtype} are not storable")
    return stored


def _encode_array(array: npt.NDArray[Any], where: str, arrays: list[bytes]) -> Any:
    """The order in memory is kept, for the last bits of a matrix product depend on it."""
    stored = _stored_dtype(array.dtype, where)
    order: Literal["C", "F"] = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
    arrays.append(array.astype(stored, copy=False).tobytes(order))
    return ["array", stored.str, list(array.shape), order]


def _encode_estimator(estimator: Any, where: str, inner: Callable[[Any, str], Any]) -> Any:
    cls = type(estimator)
    params = estimator.get_params(deep=False)
    # What was learned ends with an underscore; anything else is scikit-learn's own and is not part of the model.
    learned = [name for name in sorted(vars(estimator)) if name.endswith("_") and name not in params]
    state = {name: vars(estimator)[name] for name in learned}
    for name in state:
        if not _is_plain_attribute(cls, name):
            raise _not_storable(f"attribute {name}", f"{cls.__name__} gives this name another meaning")

    def named(word: str, values: dict[str, Any]) -> list[Any]:
        step = "." if where else f"{word} "
        return [[name, inner(value, step + name)] for name, value in values.items()]

    return ["estimator", name_of(cls), named("parameter", params), named("attribute", state)]


# --- and back ---------------------------------------------------------------------------------------------------------


def decode_value(node: Any, arrays: io.BytesIO, depth: int = 0) -> Any:
    """The value of a JSON form; array bytes are taken from ``arrays`` in passing."""
    if depth > DEEPEST:
        raise ValueError(f"its values are nested more than {DEEPEST} deep")
    inner: Inner = partial(decode_value, arrays=arrays, depth=depth + 1)
    match node:
        case None | bool() | int() | float() | str():
            return node
        case ["int", str(digits)]:
            return int(digits, 16)
        case ["float", str(digits)]:
            return struct.unpack("<d", bytes.fromhex(digits))[0]
        case ["str", str(digits)]:
            return bytes.fromhex(digits).decode("utf-8", "surrogatepass")
        case ["bytes", str(digits)]:
            return bytes.fromhex(digits)
        case ["date", str(text)]:
            return date.fromisoformat(text)
        case ["datetime", str(text), 0 | 1 as fold]:
            return datetime.fromisoformat(text).replace(fold=fold)
        case ["list", *parts]:
            return [inner(part) for part in parts]
        case ["tuple", *parts]:
            return tuple([inner(part) for part in parts])
        case ["dict", *pairs]:
            return _decode_pairs(pairs, inner)
        case ["numpy", "str_", str() | ["str", str()] as text]:
            return np.str_(inner(text))
        case ["numpy", "bytes_", ["bytes", str(digits)]]:
            return np.bytes_(bytes.fromhex(digits))
        case ["scalar", str(dtype), str(digits)]:
            return _decode_array(dtype, [], "C", io.BytesIO(bytes.fromhex(digits)))[()]
        case ["array", str(dtype), [*shape], "C" | "F" as order]:
            return _decode_array(dtype, shape, order, arrays)
        case ["objects", [*shape], *parts]:
            return _decode_objects(shape, [inner(part) for part in parts])
        case ["record", str(name), *pairs]:
            return _decode_record(registered(RECORDS, name), _decode_pairs(pairs, inner))
        case ["estimator", str(name), [*params], [*state]]:
            cls = registered(ESTIMATORS, name)
            return _decode_estimator(cls, _decode_pairs(params, inner), _decode_pairs(state, inner))
    raise ValueError(f"it holds a value of unknown form, {_short(node)}")


def number_of_json(convert: Callable[[str], Any] | None, text: str) -> Any:
    """A number as `encode_value` writes it: no NaN, and never the thousands of digits that take long to read."""
    if convert is None or len(text) > 25:
        raise ValueError(f"it holds the number {text:.30}, which is not written in this way")
    return convert(text)


def _decode_pairs(pairs: list[Any], inner: Inner) -> dict[Any, Any]:
    keys, values = [], []
    for pair in pairs:
        match pair:
            case [key, value]:
                keys.append(inner(key))
                values.append(inner(value))
            case _:
                raise ValueError("a key of it has no value")
    # Keys made to share one hash would turn building the dict into hours of comparisons.
    if max(Counter(map(hash, keys)).values(), default=0) > 100:
        raise ValueError("it holds a dict whose keys are made to collide")
    found = dict(zip(keys, values, strict=True))
    if len(found) < len(keys):
        raise ValueError("it holds the same key twice")
    return found


def _size(shape: list[Any]) -> int:
    if not all(type(length) is int and 0 <= length < 2**63 for length in shape):
        raise ValueError(f"it holds an array of shape {_short(shape)}")
    return math.prod(shape)


def _decode_array(dtype: str, shape: list[Any], order: Any, source: io.BytesIO) -> npt.NDArray[Any]:
    """The next array of the source."""
    if not DTYPES.fullmatch(dtype):
        raise ValueError(f"it holds an array of type {_short(dtype)}")
    stored = np.dtype(dtype)
    if stored.itemsize == 0:
        raise ValueError("it holds an array of elements without a size")
    n_bytes = _size(shape) * stored.itemsize
    # Reading takes memory for what is there, never for what is claimed.
    content = source.read(min(n_bytes, sys.maxsize))
    if len(content) < n_bytes:
        raise ValueError("it holds fewer array bytes than its header describes")
    flat = np.frombuffer(content, np.uint8)
    if stored.kind == "b" and (flat > 1).any():
        raise ValueError("it holds truth values other than 0 and 1")
    if stored.kind == "U" and (flat.view("<u4") > sys.maxunicode).any():
        raise ValueError("it holds text with characters that do not exist")
    array = flat.view(stored).reshape(shape, order=order)
    return array.astype(stored.newbyteorder("="), order="K", copy=True)


def _decode_objects(shape: list[Any], items: list[Any]) -> npt.NDArray[np.object_]:
    if _size(shape) != len(items):
        raise ValueError(f"it holds {len(items)} values for an array of shape {_short(shape)}")
    flat = np.empty(len(items), dtype=object)
    for i, item in enumerate(items):
        flat[i] = item
    return flat.reshape(shape)


def _decode_record(cls: type, values: dict[Any, Any]) -> Any:
    known = _field_names(cls)
    for name in values:
        if name not in known:
            raise ValueError(f"{cls.__name__} has no field {_short(name)}")
    return _build(cls, values)


def _decode_estimator(cls: type, params: dict[Any, Any], state: dict[Any, Any]) -> Any:
    estimator = _build(cls, params)
    for name in state:
        if name in params or not _is_plain_attribute(cls, name):
            raise ValueError(f"{_short(name)} cannot be an attribute of {cls.__name__}")
    vars(estimator).update(state)  # past any __setattr__, so that nothing runs
    if hasattr(cls, "_check_restored"):
        estimator._check_restored()
    return estimator


def _build(cls: type, values: dict[Any, Any]) -> Any:
    try:
        return cls(**values)
    except Exception as error:
        raise ValueError(f"{cls.__name__} refuses the stored values ({error})") from error


# --- attributes and fields --------------------------------------------------------------------------------------------


def _is_plain_attribute(cls: type, name: object) -> bool:
    """An attribute that only ever holds a value: nothing Python or the class gives a meaning of its own."""
    return (
        isinstance(name, str)
        and name.isidentifier()
        and not name.startswith("__")
        and not any(name in vars(base) for base in cls.__mro__)
    )


def _field_names(cls: type) -> list[str]:
    return [field.name for field in dataclasses.fields(cls) if field.init]


def _short(value: object) -> str:
    return f"{value!r:.80}"
