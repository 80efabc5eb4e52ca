"""Summaries: what a model learned, in words."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from seminaive.evidence.model import Model
from seminaive.show.explain import explain_model


def summarize(title: str, evidence: Model, class_weight: npt.NDArray[Any], numeric: str, *found: str) -> str:
    """Rows and classes, what else was ``found``, columns by kind, and the terms that can say most."""
    schema = evidence.schema
    total = class_weight.sum()
    shares = ", ".join(f"{c} {w / total:.1%}" for c, w in zip(schema.classes, class_weight, strict=True))
    nominal = [c for c in schema.columns if c.kind == "nominal"]
    numbers = [c for c in schema.columns if c.kind == "numeric"]
    lines = [
        f"{title}: {total:g} rows, {schema.n_classes} class{'es' if schema.n_classes > 1 else ''} ({shares})",
        "; ".join([_columns(len(nominal), "nominal"), _columns(len(numbers), "numeric")])
        + (f", each {numeric}" if numbers else ""),
    ]
    days = [str(c.name) for c in numbers if c.unit]
    if days:
        lines.append(f"dates and durations read as numbers of days: {', '.join(days)}")
    folded = [f"{c.name} ({len(c.folded)})" for c in nominal if c.folded]
    if folded:
        lines.append(f"columns with rare levels folded together: {', '.join(folded)}")
    shown = explain_model(evidence, 0 if schema.n_classes == 2 else None)
    speak = {term for term, spread in zip(evidence.term_names(), shown.spread(), strict=True) if spread > 0}
    silent = [str(c.name) for c in schema.columns if str(c.name) not in speak]
    if silent:
        lines.append(f"columns that say nothing: {', '.join(silent[:10])}{' ...' if len(silent) > 10 else ''}")
    return "\n".join([lines[0], *found, *lines[1:], str(shown)])


def _columns(n: int, kind: str) -> str:
    return f"{n} {kind} column{'' if n == 1 else 's'}"
