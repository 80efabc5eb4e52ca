"""`seminaive reproduce`: the tables there are, one line each."""

from __future__ import annotations

import os
from argparse import Namespace
from difflib import get_close_matches
from pathlib import Path

from seminaive.reproduce import (
    adjusted,
    adjusted_calibration,
    adjusted_choice,
    adjusted_defaults,
    constrained,
    forest_figures,
    forest_table3,
    naive_dna,
    normal_gamma,
    selection,
    stagewise_figures,
    stagewise_table1,
    stagewise_table2,
    stagewise_table3,
)
from seminaive.reproduce.paper_table import PaperTable, Reproduction, Request

TABLES: dict[str, PaperTable | Reproduction] = {
    "adjusted-calibration": adjusted_calibration.TABLE,
    "adjusted-choice": adjusted_choice.TABLE,
    "adjusted-defaults": adjusted_defaults.TABLE,
    "adjusted-table1": adjusted.TABLE,
    "constrained-tables": constrained.TABLES,
    "forest-figures": forest_figures.FIGURES,
    "forest-table3": forest_table3.TABLE,
    "naive-dna": naive_dna.TABLE,
    "normal-gamma-tables": normal_gamma.TABLE,
    "selection-table1": selection.TABLE,
    "stagewise-figures": stagewise_figures.TABLE,
    "stagewise-table1": stagewise_table1.TABLE,
    "stagewise-table2": stagewise_table2.TABLE,
    "stagewise-table3": stagewise_table3.TABLE,
}


def reproduce(options: Namespace) -> None:
    """Run the command: one table, or the list of all."""
    if options.name is None:
        print(listing())
        return
    table = table_named(options.name)
    request = Request(
        data=data_folder(options.data, table),
        quick=options.quick,
        every=options.all,
        leaky=options.leaky,
        pictures=options.output,
    )
    for line in table.text(request):
        print(line, flush=True)


def listing() -> str:
    """The names and titles of all tables."""
    width = max(map(len, TABLES))
    lines = [
        f"  {name:<{width}}  {table.title}{' (needs data)' if table.files else ''}" for name, table in TABLES.items()
    ]
    advice = "tables that need data read Parquet files from --data FOLDER or the folder in $SEMINAIVE_DATA"
    return "\n".join(["seminaive reproduce NAME", *lines, "", advice])


def table_named(name: str) -> PaperTable | Reproduction:
    """The table of that name."""
    if name not in TABLES:
        near = get_close_matches(name, TABLES, n=1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise ValueError(f"there is no table {name!r}; {hint}(there are: {', '.join(TABLES)})")
    return TABLES[name]


def data_folder(given: str | None, table: PaperTable | Reproduction) -> Path | None:
    """The folder that holds the files a table needs."""
    place = given or os.environ.get("SEMINAIVE_DATA")
    if not table.files:
        return Path(place) if place else None
    if not place:
        raise ValueError(
            f"this table needs {', '.join(table.files)}: name their folder with --data FOLDER, or in SEMINAIVE_DATA"
        )
    folder = Path(place)
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder; --data (or SEMINAIVE_DATA) names the folder of the Parquet files")
    for name in table.files:
        if not (folder / name).is_file():
            raise ValueError(f"{folder} holds no {name}, which this table needs")
    return folder
