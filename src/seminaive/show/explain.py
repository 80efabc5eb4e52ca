"""From a model's evidence to what people read: the values as they came, beside what they say."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from seminaive.evidence.contrast import ContrastTerm
from seminaive.evidence.contributions import contributions
from seminaive.evidence.evidence import Evidence
from seminaive.evidence.terms import CurveTerm, GaussianTerm, Term
from seminaive.show.explanation import Explanation, ModelExplanation
from seminaive.table.block import Block
from seminaive.table.encode import stream_blocks
from seminaive.table.frames import Frame, Source
from seminaive.table.schema import FIRST_LEVEL, MISSING, RARE, UNSEEN, Column, Floats, Schema, level_text

GRID = 41
"""Points at which a numeric term is shown."""


def explain_rows(evidence: Evidence, frame: Frame, reference: int | None) -> Explanation:
    """Explain every row of a frame."""
    schema = evidence.schema
    blocks = list(stream_blocks(schema, frame))
    parts = contributions(evidence, blocks, frame.n_rows)
    by_term = [_texts(schema.columns[t.column], frame.read(t.column), blocks, schema, t.column) for t in evidence.terms]
    texts = [[by_term[t][row] for t in range(len(by_term))] for row in range(frame.n_rows)]
    probabilities = evidence.probabilities(parts.scores.T).T
    return Explanation(
        parts.terms,
        texts,
        parts.values,
        parts.variances,
        parts.prior,
        schema.classes,
        probabilities,
        reference,
        evidence.link,
    )


def _texts(column: Column, source: Source, blocks: Sequence[Block], schema: Schema, position: int) -> list[str]:
    """One column's values as read, with what became of them."""
    read = _as_read(source)
    if not column.is_coded:
        return read
    slot = schema.layout.slot[position]
    rows = [block.codes8[slot] if column.n_codes <= 256 else block.codes16[slot] for block in blocks]
    out = []
    for text, code in zip(read, np.concatenate(rows).tolist(), strict=True):
        if code == MISSING:
            out.append("missing")
        elif code == UNSEEN:
            out.append(f"{text} (never seen)")
        elif column.cuts is not None:
            out.append(f"{text} ({column.level_name(code)})")
        else:
            rare = column.folded and code == column.n_codes - 1
            out.append(f"{text} {RARE}" if rare else text)
    return out


def _as_read(source: Source) -> list[str]:
    if source.kind == "numbers":
        unit = f" {source.unit}" if source.unit else ""
        return ["missing" if np.isnan(v) else f"{v:.6g}{unit}" for v in source.data]
    labels = [*map(level_text, source.labels), *["missing"] * (max(source.missing + 1 - len(source.labels), 0))]
    return ["missing" if code == source.missing else labels[code] for code in source.data.tolist()]


def explain_model(evidence: Evidence, reference: int | None) -> ModelExplanation:
    """Show every term at its levels, or along its column's range."""
    shown = [_representative(term, evidence.schema) for term in evidence.terms]
    values, variances = [], []
    for term, (block, _, _) in zip(evidence.terms, shown, strict=True):
        values.append(term.evidence(block, evidence.schema).T)
        variances.append(term.variance(block, evidence.schema).T)
    return ModelExplanation(
        terms=evidence.term_names(),
        texts=[texts for _, texts, _ in shown],
        values=values,
        variances=variances,
        positions=[positions for _, _, positions in shown],
        prior=evidence.prior,
        classes=evidence.schema.classes,
        reference=reference,
        link=evidence.link,
    )


def _representative(term: Term, schema: Schema) -> tuple[Block, list[str], Floats | None]:
    """A block that holds, in the term's column, every level or a grid of values; their texts; the grid."""
    column = schema.columns[term.column]
    if column.is_coded:
        codes = np.arange(FIRST_LEVEL, column.n_codes)
        if term.evidence(_one_column(schema, term.column, np.array([MISSING])), schema).any():
            codes = np.append(codes, MISSING)
        return _one_column(schema, term.column, codes), [column.level_name(int(code)) for code in codes], None
    grid = _grid(term)
    return _one_column(schema, term.column, grid), [f"{v:.6g}" for v in grid], grid


def _grid(term: Term) -> Floats:
    if isinstance(term, ContrastTerm):
        return _grid(term.density)
    if isinstance(term, GaussianTerm):
        reach = 2.5 / np.sqrt(term.precision)
        return np.linspace((term.mean - reach).min(), (term.mean + reach).max(), GRID)
    if isinstance(term, CurveTerm):
        return np.linspace(term.knots[0], term.knots[-1], GRID)
    raise TypeError(f"{type(term).__name__} has no values to show")


def _one_column(schema: Schema, position: int, cells: Any) -> Block:
    """A block whose rows hold the given codes or values in one column, and nothing known elsewhere."""
    layout, n = schema.layout, len(cells)
    codes8 = np.full((len(layout.narrow), n), MISSING, dtype=np.uint8)
    codes16 = np.full((len(layout.wide), n), MISSING, dtype=np.uint16)
    values = np.full((len(layout.valued), n), np.nan)
    column = schema.columns[position]
    home: Any = values if not column.is_coded else codes8 if column.n_codes <= 256 else codes16
    home[layout.slot[position]] = cells
    unknown = np.array([-1])
    return Block(codes8, codes16, values, None, np.array([0, n]), unknown, np.array([0]), None, 0)
