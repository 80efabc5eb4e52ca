"""`seminaive compare`: the scores of the library's own comparison, in a table that says how sure it is."""

from __future__ import annotations

import numpy as np
import pytest

import seminaive as snb
from seminaive.cli import compare as command
from seminaive.cli import main
from seminaive.cli.models import MODELS
from seminaive.datasets import make_loans


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    X, outcome = make_loans(200)
    X.assign(outcome=outcome).to_csv(tmp_path / "loans.csv", index=False)
    monkeypatch.chdir(tmp_path)

    def command(*arguments):
        code = main(["compare", "loans.csv", "--target", "outcome", *map(str, arguments)])
        return code, *capsys.readouterr()

    return command


def test_scores_and_differences_are_those_of_the_library(run):
    code, out, complaint = run("--models", "naive,weighted", "--folds", "5")
    assert (code, complaint) == (0, "")
    X, outcome = make_loans(200)
    ours = snb.compare(
        {"naive": snb.NaiveBayes(), "weighted": snb.WeightedNB()}, (X, outcome), cv=5, repeats=1, metrics=["accuracy"]
    )
    mean, error = ours.means()[0, 1], ours.standard_errors()[0, 1]
    lines = out.splitlines()
    assert next(line for line in lines if line.startswith("weighted")).split()[1:4] == [
        f"{mean:.3f}",
        "±",
        f"{error:.3f}",
    ]
    after = lines[next(i for i, line in enumerate(lines) if line.startswith("difference to naive")) :]
    (row,) = ours.differences().itertuples()
    shown = f"{row.difference:+.3f} [{row.low:+.3f}, {row.high:+.3f}]"
    assert shown in next(line for line in after if line.startswith("weighted"))
    assert "always the most frequent class" in out


def test_the_models_are_those_of_the_registry(run):
    assert set(command.chosen_models(None)) | set(command.NOT_ASKED) == set(MODELS)
    assert command.chosen_models("weighted, naive,weighted") == ["weighted", "naive"]
    code, out, complaint = run("--models", "naive,weihgted")
    assert (code, out) == (1, "")
    assert "there is no model 'weihgted'; did you mean 'weighted'?" in complaint
    assert run("--models", ",")[0] == 1


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--folds", 1], "--folds is 1; it must be at least 2"),
        (["--repeats", 0], "--repeats is 0; it must be at least 1"),
        (["--folds", 190], "--folds 190 is too many, use at most"),
        (["--plot", "a.doc"], "must end in .png, .svg, .pdf"),
        (["--resume", "nowhere/work"], "in a folder that does not exist"),
        (["--resume", "loans.csv"], "holds something else"),
        (["--numeric", "bell"], "numeric must be one of"),
    ],
)
def test_what_cannot_be_done_is_one_sentence(run, arguments, sentence):
    code, _, complaint = run("--models", "naive", *arguments)
    assert code == 1
    assert sentence in complaint
    assert complaint.count("\n") == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("x,y\n1,a\n2,b\n", "has 2 rows, too few"), ("x,y\n" + "1,a\n" * 20, "the target holds 'a' only")],
)
def test_rows_that_cannot_be_compared_on_are_refused(run, tmp_path, text, sentence, capsys):
    (tmp_path / "few.csv").write_text(text)
    assert main(["compare", "few.csv", "--target", "y"]) == 1
    assert sentence in capsys.readouterr().err


def test_a_model_that_fails_is_named_and_the_others_are_shown(run, monkeypatch):
    def refuse(self, *_args, **_options):
        raise ValueError("cannot learn from this")

    monkeypatch.setattr(snb.WeightedNB, "fit", refuse)
    code, out, complaint = run("--models", "naive,weighted", "--folds", "3")
    assert code == 1
    assert "failed" in next(line for line in out.splitlines() if line.startswith("weighted"))
    assert "±" in next(line for line in out.splitlines() if line.startswith("naive"))
    assert "not every model could be fitted" in complaint
    assert "weighted: ValueError: cannot learn from this" in complaint


def test_an_interrupted_comparison_goes_on_where_it_stopped(run, monkeypatch):
    arguments = ["--models", "naive", "--folds", "3", "--repeats", "2", "--resume", "work.jsonl", "--plot", "a.png"]
    first = run(*arguments)
    assert first[0] == 0

    def never(*_):
        raise AssertionError("fitted again")

    monkeypatch.setattr(snb.NaiveBayes, "fit", never)
    assert run(*arguments) == first


def test_options_of_learning_reach_the_models(run):
    _, out, _ = run("--models", "naive", "--folds", "3", "--drop", "income", "--numeric", "bins", "--nominal", "age")
    X, outcome = make_loans(200)
    model = snb.NaiveBayes(numeric="bins", nominal=["age"])
    mean = snb.compare(model, (X.drop(columns="income"), outcome), cv=3, repeats=1, metrics="accuracy").means()[0, 0]
    assert "200 rows, 3 columns" in out
    assert next(line for line in out.splitlines() if line.startswith("naive")).split()[1] == f"{mean:.3f}"
    assert np.isfinite(mean)
