"""Classes that may occur in a model file: known by name, never imported by a name found in a file."""

from __future__ import annotations

import dataclasses
import sys
from typing import TypeVar

__all__ = ["ESTIMATORS", "RECORDS", "is_registered", "name_of", "register_estimator", "registered", "storable"]

Class = TypeVar("Class", bound=type)

RECORDS: dict[str, type] = {}
"""Frozen dataclasses."""
ESTIMATORS: dict[str, type] = {}


def storable(cls: Class) -> Class:
    """Let a frozen dataclass be stored inside a model: a decorator, or a call on a class defined elsewhere.

    The fields are stored by name and come back through the constructor, so what ``__post_init__`` demands of
    a new object it also demands of a loaded one. A field added later needs a default; older files get it.

    Examples
    --------
    >>> @storable
    ... @dataclasses.dataclass(frozen=True)
    ... class Cuts:
    ...     values: tuple[float, ...]
    """
    if not dataclasses.is_dataclass(cls) or not cls.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        raise TypeError(f"{cls.__name__} is not a frozen dataclass; only these are storable")
    return _register(RECORDS, cls)


def register_estimator(cls: Class) -> Class:
    """Let estimators of this class be saved and loaded.

    Such a class has ``get_params(deep=False)``, keeps what it learned in plain attributes, and may have a
    method ``_check_restored()`` that raises a ValueError if loaded attributes do not fit together.
    """
    return _register(ESTIMATORS, cls)


def name_of(cls: type) -> str:
    """The library's classes go by their bare name, those of others by their full one: these never collide."""
    own = cls.__module__.partition(".")[0] == __name__.partition(".")[0]
    return cls.__name__ if own else f"{cls.__module__}.{cls.__qualname__}"


def is_registered(registry: dict[str, type], cls: type) -> bool:
    """Known under its own name; a class defined again, by a notebook cell run twice, counts as the same."""
    known = registry.get(name_of(cls))
    return known is not None and (known.__module__, known.__qualname__) == (cls.__module__, cls.__qualname__)


def _register(registry: dict[str, type], cls: Class) -> Class:
    name = name_of(cls)
    if name in registry and not is_registered(registry, cls):
        raise ValueError(f"{registry[name].__module__} and {cls.__module__} both define {name}; rename one")
    registry[name] = cls
    return cls


def registered(registry: dict[str, type], name: str) -> type:
    """The class of this name; a public one is imported here if this is its first use."""
    # The package is read at run time: importing it by name would import every room above this one. Only names on its
    # own list are asked for, so a file still cannot cause any other import.
    library = sys.modules[__name__.partition(".")[0]]
    if name not in registry and name in library.__all__:
        getattr(library, name)
    if name not in registry:
        raise ValueError(f"it holds a {name!r:.80}, which is not known here; import the module that defines it first")
    return registry[name]
