"""The command line: a thin shell over the library.

Exit codes: 0 all is well, 1 the input is at fault (one sentence on stderr says what and what would be right), 2 the
command was not understood, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from seminaive import __version__
from seminaive.cli.models import MODELS

__all__ = ["main"]

EXAMPLES = """\
examples:
  seminaive train churn.csv --target churned -o churn.snb
  seminaive train churn.csv --target churned --numeric bins --nominal zip,plan --drop customer_id
  seminaive compare churn.csv --target churned --models naive,selective
  seminaive predict churn.snb new.csv -o predicted.csv
  seminaive explain churn.snb new.csv --row 3 --plot why.png
  seminaive demo
  seminaive reproduce naive-dna --data folder

files are CSV (an empty unquoted field, NA, N/A, NaN, null or ? is missing; "" is a level) or Parquet
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = _parser().parse_args(arguments)
    with warnings.catch_warnings():
        _warnings_as_notes()
        try:
            _function(options.run)(options)
            sys.stdout.flush()
        except KeyboardInterrupt:
            print("seminaive: interrupted", file=sys.stderr)
            return 130
        except BrokenPipeError:  # the reader of our output, `head` say, has seen enough
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        except (ValueError, OSError, MemoryError) as problem:
            print(f"seminaive: error: {_one_line(problem)}", file=sys.stderr)
            return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="seminaive",
        description="Classifiers that start from naive Bayes; every decision is a readable sum of evidence.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="version", version=f"seminaive {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)

    command = _command(commands, "train", "cli.train.train", "learn a model from a file and say how good it is")
    _add_learning(command)
    command.add_argument("--model", default="naive", choices=MODELS, help="default: naive")
    command.add_argument("-o", "--output", metavar="MODEL", help="file to save the model to, such as model.snb")

    command = _command(
        commands,
        "compare",
        "cli.compare.compare",
        "several models on the same folds of a file, and how sure the difference is",
    )
    _add_learning(command)
    command.add_argument("--models", metavar="A,B", help=f"of {', '.join(MODELS)}; default: all but constrained")
    command.add_argument("--folds", type=int, default=10, metavar="N", help="default: 10")
    command.add_argument("--repeats", type=int, default=1, metavar="N", help="cross-validations; default: 1")
    command.add_argument("--jobs", type=int, default=1, metavar="N", help="processes; -1: as many as there are cores")
    command.add_argument("--resume", metavar="FILE", help="keep finished work there, and go on from it")
    command.add_argument("--plot", metavar="PICTURE", help="picture to save: .png, .svg or .pdf")

    command = _command(commands, "predict", "cli.apply.predict", "class and probabilities of every row of a file")
    command.add_argument("model", help="file made by train")
    command.add_argument("data", help="CSV or Parquet file with the model's columns")
    command.add_argument("-o", "--output", metavar="FILE", help="CSV or Parquet file to write (default: CSV to stdout)")

    command = _command(
        commands, "explain", "cli.apply.explain", "why a row is classified as it is; without data: what was learned"
    )
    command.add_argument("model", help="file made by train")
    command.add_argument("data", nargs="?", help="CSV or Parquet file with the model's columns")
    command.add_argument("--row", type=int, default=0, metavar="N", help="which row; 0, the default, is the first")
    command.add_argument("--plot", metavar="PICTURE", help="picture to save: .png, .svg or .pdf")

    _command(commands, "demo", "cli.demo.demo", "a tour on built-in data: scores, and one decision explained")

    command = _command(
        commands,
        "reproduce",
        "reproduce.registry.reproduce",
        "the papers' tables beside ours; without a name: what there is",
    )
    command.add_argument("name", nargs="?", help="the table")
    command.add_argument("--data", metavar="FOLDER", help="folder of Parquet files (default: $SEMINAIVE_DATA)")
    command.add_argument("--quick", action="store_true", help="the smallest run that shows the same thing")
    command.add_argument("--all", action="store_true", help="every data set, however long it takes")
    command.add_argument("--leaky", action="store_true", help="the paper's protocol even where it peeks at test rows")
    command.add_argument("-o", "--output", type=Path, metavar="FOLDER", help="folder for pictures")
    return parser


def _function(place: str) -> Any:
    """What a command runs; nothing else of the library is imported before, so that ``--help`` comes at once."""
    module, _, name = place.rpartition(".")
    return getattr(import_module(f"seminaive.{module}"), name)


def _command(commands: Any, name: str, run: str, what: str) -> argparse.ArgumentParser:
    command: argparse.ArgumentParser = commands.add_parser(
        name, help=what, description=what[0].upper() + what[1:] + "."
    )
    command.set_defaults(run=run)
    return command


def _add_learning(command: argparse.ArgumentParser) -> None:
    command.add_argument("data", help="CSV or Parquet file, one row per case")
    command.add_argument("--target", required=True, metavar="COLUMN", help="the column to predict")
    command.add_argument(
        "--numeric", metavar="HOW", help="how numbers are modelled: gaussian, bins, kde or mdl, as the model allows"
    )
    command.add_argument("--nominal", action="append", metavar="A,B", help="columns of numbers that are mere names")
    command.add_argument("--drop", action="append", metavar="A,B", help="columns to leave out, such as identifiers")


def _warnings_as_notes() -> None:
    """The library's advice as notes on stderr, each once."""
    said: set[str] = set()

    def note(message: Warning | str, *_: Any, **__: Any) -> None:
        text = _one_line(message)
        if text not in said:
            said.add(text)
            print(f"note: {text}", file=sys.stderr)

    warnings.filterwarnings("always", category=UserWarning)
    warnings.showwarning = note


def _one_line(problem: Any) -> str:
    if isinstance(problem, OSError) and problem.strerror:
        return f"{problem.filename}: {problem.strerror}" if problem.filename else problem.strerror
    return " ".join(str(problem).split()) or type(problem).__name__
