"""Small families and mixtures of them, and the slow sums everything must equal."""

import numpy as np

from seminaive.evidence.families import Families
from seminaive.evidence.mixture import Mixture
from seminaive.evidence.terms import FamilyTerm
from seminaive.table.block import Block
from seminaive.table.schema import Column, Schema

COLUMNS = (
    Column("a", "nominal", levels=("p", "q")),
    Column("b", "nominal", levels=("u", "v", "w")),
    Column("c", "numeric", cuts=np.array([0.5])),
    Column("many", "nominal", levels=tuple(range(300))),
)


def schema_of(n_classes):
    return Schema(COLUMNS, np.arange(n_classes))


def random_block(rng, n):
    """Rows with values never seen and missing values among them."""
    codes8 = np.array([rng.integers(0, column.n_codes, n) for column in COLUMNS[:3]]).astype(np.uint8)
    codes16 = rng.integers(0, 302, (1, n)).astype(np.uint16)
    return Block(codes8, codes16, np.empty((0, n)), None, np.array([0, n]), np.array([-1]), None, 0)


def codes_of_all(block):
    return np.concatenate([block.codes8.astype(int), block.codes16.astype(int)])


def random_term(rng, schema, reads):
    shape = (schema.n_classes, *(schema.columns[j].n_codes for j in reads))
    table, variance = rng.normal(size=shape), rng.random(shape)
    for axis in range(1, len(shape)):
        np.moveaxis(table, axis, 0)[0] = 0.0
        np.moveaxis(variance, axis, 0)[0] = 0.0
    return FamilyTerm(reads[0], tuple(reads[1:]), table, variance)


READS = [(0,), (1,), (2,), (1, 0), (0, 1), (2, 1), (3, 0), (2, 0, 1)]


def random_mixture(rng, n_classes, n_members, normalise, needs=False):
    schema = schema_of(n_classes)
    families = Families.of([random_term(rng, schema, reads) for reads in READS], n_classes)
    members = [np.flatnonzero(rng.random(len(READS)) < 0.4) for _ in range(n_members)]
    weight = rng.random(n_members)
    needed, may_lead = None, None
    if needs:
        needed = rng.integers(-1, 3, n_members)
        may_lead = rng.random(schema.layout.width) < 0.5
        needed[-1], weight[-1] = -1, 0.0
        if n_members == 1:
            weight[-1] = 1.0
    prior = np.log(rng.dirichlet(np.ones(n_classes)))
    return Mixture.of(schema, prior, families, members, weight, normalise, needed, may_lead), members


def sums_of(mixture, members, block):
    """Prior plus evidence of every member, (members, classes, rows)."""
    terms = [mixture.families.term(f, mixture.schema) for f in range(len(mixture.families))]
    said = np.array([term.evidence(block, mixture.schema) for term in terms])
    return mixture.prior[:, None] + np.array([said[member].sum(axis=0) for member in members])


def say_of(mixture, block):
    """Weight of every member in every row, row by row."""
    codes, layout = codes_of_all(block), mixture.schema.layout
    say = np.zeros((len(mixture.weight), block.n_rows))
    for i in range(block.n_rows):
        for g, j in enumerate(mixture.needs):
            if j < 0 or mixture.may_lead[layout.starts[j] + codes[j, i]]:
                say[g, i] = mixture.weight[g]
        if say[:, i].sum() == 0:
            say[-1, i] = 1.0
    return say / say.sum(axis=0)
