"""From a model's evidence to what people read: the values as they came, beside what they say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from seminaive.evidence.contrast import ContrastTerm
from seminaive.evidence.contributions import contributions
from seminaive.evidence.model import Model
from seminaive.evidence.terms import CurveTerm, GaussianTerm, Term
from seminaive.show.explanation import Explanation, ModelExplanation
from seminaive.table.block import Block, codes_of
from seminaive.table.encode import stream_blocks
from seminaive.table.frames import Frame
from seminaive.table.schema import FIRST_LEVEL, MISSING, RARE, UNSEEN, Column, Floats, Schema, level_text
from seminaive.table.sources import Source

GRID = 41
"""Points at which a numeric term is shown."""


def explain_rows(evidence: Model, frame: Frame, reference: int | None) -> Explanation:
    """Explain every row of a frame."""
    schema = evidence.schema
    blocks = list(stream_blocks(schema, frame))
    parts = contributions(evidence, blocks, frame.n_rows)
    reads = evidence.term_reads()
    used = sorted({j for columns in reads for j in columns})
    by_column = {j: _texts(schema.columns[j], frame.read(j), blocks, schema, j) for j in used}
    names = [str(column.name) for column in schema.columns]
    parents = {j for columns in reads for j in columns[1:]}
    of_parent = {j: _texts(schema.columns[j], frame.read(j), blocks, schema, j, only_bin=True) for j in parents}
    texts = [[_side_by_side(by_column, of_parent, c, row) for c in reads] for row in range(frame.n_rows)]
    probabilities = evidence.probabilities(parts.scores.T).T
    return Explanation(
        _titles(parts.terms, reads, names),
        texts,
        parts.values,
        parts.variances,
        parts.prior,
        schema.classes,
        probabilities,
        reference,
        evidence.link,
    )


def _titles(terms: Sequence[str], reads: Sequence[Sequence[int]], names: Sequence[str]) -> list[str]:
    """What each term is called: its column, and the columns it is read with: "x | a, b"."""
    given = [", ".join(names[j] for j in columns[1:]) for columns in reads]
    return [f"{term} | {parents}" if parents else term for term, parents in zip(terms, given, strict=True)]


def _side_by_side(
    texts: Mapping[int, Sequence[str]], of_parent: Mapping[int, Sequence[str]], columns: Sequence[int], row: int
) -> str:
    """A row's value, and its parents' in the order of the term's title: "x | y, z"."""
    parts = [texts[j][row] for j in columns[:1]]
    parts += [", ".join(of_parent[j][row] for j in columns[1:])] if len(columns) > 1 else []
    return " | ".join(parts)


def _in_words(values: Sequence[str], columns: Sequence[int], names: Sequence[str]) -> str:
    """A column's value, and its parents' if it has any: "x given a = y"."""
    if not values:
        return ""
    given = ", ".join(f"{names[j]} = {value}" for j, value in zip(columns[1:], values[1:], strict=True))
    return f"{values[0]} given {given}" if given else values[0]


def _texts(
    column: Column, source: Source, blocks: Sequence[Block], schema: Schema, position: int, only_bin: bool = False
) -> list[str]:
    """One column's values as read, with what became of them; or of a number only the bin it fell in."""
    read = _as_read(source)
    if not column.is_coded:
        return read
    rows = [codes_of(block, schema, position) for block in blocks]
    out = []
    for text, code in zip(read, np.concatenate(rows).tolist(), strict=True):
        if code == MISSING:
            out.append("missing")
        elif code == UNSEEN:
            out.append(f"{text} (never seen)")
        elif column.cuts is not None:
            bin_name = column.level_name(code)
            out.append(bin_name if only_bin else f"{text} ({bin_name})")
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


def explain_model(evidence: Model, reference: int | None) -> ModelExplanation:
    """Show every term at its levels, or along its column's range."""
    shown = [[_representative(term, evidence.schema) for term in terms] for terms in evidence.shown_terms()]
    nothing = np.empty((0, evidence.schema.n_classes))
    values, variances = [], []
    for terms, parts in zip(evidence.shown_terms(), shown, strict=True):
        blocks = [block for block, _, _ in parts]
        both = list(zip(terms, blocks, strict=True))
        values.append(np.concatenate([nothing, *(term.evidence(block, evidence.schema).T for term, block in both)]))
        variances.append(np.concatenate([nothing, *(term.variance(block, evidence.schema).T for term, block in both)]))
    return ModelExplanation(
        terms=_titles(evidence.term_names(), evidence.term_reads(), [str(name) for name in evidence.schema.names]),
        texts=[[text for _, texts, _ in parts for text in texts] for parts in shown],
        values=values,
        variances=variances,
        positions=[parts[0][2] if parts else None for parts in shown],
        prior=evidence.prior,
        classes=evidence.schema.classes,
        reference=reference,
        link=evidence.link,
        sizes=[[len(texts) for _, texts, _ in parts] for parts in shown],
    )


def _representative(term: Term, schema: Schema) -> tuple[Block, list[str], Floats | None]:
    """A block that holds, in the term's columns, every level or a grid of values; their texts; the grid."""
    if not schema.columns[term.column].is_coded:
        grid = _grid(term)
        return _only(schema, {term.column: grid}), [f"{v:.6g}" for v in grid], grid
    columns = [schema.columns[j] for j in term.reads]
    codes = [np.append(np.arange(FIRST_LEVEL, column.n_codes), MISSING) for column in columns]
    said = term.evidence(_only(schema, _combined(term.reads, codes)), schema).reshape(-1, *map(len, codes))
    for i in range(len(codes)):  # missing is shown where it says something
        if not np.take(said, -1, axis=i + 1).any():
            codes[i] = codes[i][:-1]
    cells = _combined(term.reads, codes)
    names = [str(column.name) for column in schema.columns]
    texts = []
    for combination in zip(*cells.values(), strict=True):
        values = [column.level_name(int(code)) for column, code in zip(columns, combination, strict=True)]
        texts.append(_in_words(values, term.reads, names))
    return _only(schema, cells), texts, None


def _combined(columns: Sequence[int], codes: Sequence[npt.NDArray[Any]]) -> dict[int, npt.NDArray[Any]]:
    """All combinations of the codes of some columns, the last column's changing fastest."""
    grids = np.meshgrid(*codes, indexing="ij")
    return {j: grid.ravel() for j, grid in zip(columns, grids, strict=True)}


def _grid(term: Term) -> Floats:
    if isinstance(term, ContrastTerm):
        return _grid(term.density)
    if isinstance(term, GaussianTerm):
        reach = 2.5 / np.sqrt(term.precision)
        return np.linspace((term.mean - reach).min(), (term.mean + reach).max(), GRID)
    if isinstance(term, CurveTerm):
        return np.linspace(term.knots[0], term.knots[-1], GRID)
    raise TypeError(f"{type(term).__name__} has no values to show")


def _only(schema: Schema, cells: Mapping[int, npt.NDArray[Any]]) -> Block:
    """A block whose rows hold the given codes or values in some columns, and nothing known elsewhere."""
    layout, n = schema.layout, len(next(iter(cells.values())))
    codes8 = np.full((len(layout.narrow), n), MISSING, dtype=np.uint8)
    codes16 = np.full((len(layout.wide), n), MISSING, dtype=np.uint16)
    values = np.full((len(layout.valued), n), np.nan)
    for j, of_column in cells.items():
        column = schema.columns[j]
        home: Any = values if not column.is_coded else codes8 if column.is_narrow else codes16
        home[layout.slot[j]] = of_column
    unknown = np.array([-1])
    return Block(codes8, codes16, values, None, np.array([0, n]), unknown, None, 0)
