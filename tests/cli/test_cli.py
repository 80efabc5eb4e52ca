"""The command line: what goes in, what comes out, and one sentence when something is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import seminaive as snb
from seminaive.cli import main
from seminaive.cli.models import MODELS
from seminaive.datasets import make_loans
from seminaive.table.files import read_file


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with loans.csv, loans.parquet and a model of them."""
    folder = tmp_path_factory.mktemp("loans")
    X, outcome = make_loans(300)
    frame = X.assign(outcome=outcome)
    frame.to_csv(folder / "loans.csv", index=False)
    frame.to_parquet(folder / "loans.parquet", index=False)
    assert main(["train", str(folder / "loans.csv"), "--target", "outcome", "-o", str(folder / "loans.snb")]) == 0
    return folder


@pytest.fixture
def run(place, monkeypatch, capsys):
    """Run a command in that folder: exit code, what it printed, what it complained."""
    monkeypatch.chdir(place)
    capsys.readouterr()

    def command(*arguments):
        code = main([str(argument) for argument in arguments])
        return code, *capsys.readouterr()

    return command


def csv_file(folder, text):
    path = folder / "data.csv"
    path.write_text(text)
    return path


# --- train ------------------------------------------------------------------------------------------------------------


def test_train_says_what_was_learned_and_how_good_it_is(run):
    code, out, complaint = run("train", "loans.csv", "--target", "outcome")
    assert (code, complaint) == (0, "")
    assert "Naive Bayes: 300 rows, 2 classes" in out
    assert "2 nominal columns; 2 numeric columns, each a Gaussian per class" in out
    ours, majority = (float(out.split(name)[1].split()[0]) for name in ("  naive", "most frequent class"))
    assert ours > majority + 0.05
    assert "not saved; add -o model.snb" in out


def test_a_trained_model_is_the_one_that_python_would_fit(place):
    X, outcome = make_loans(300)
    np.testing.assert_array_equal(
        snb.load(place / "loans.snb").predict_proba(X), snb.NaiveBayes().fit(X, outcome).predict_proba(X)
    )


def test_csv_and_parquet_train_the_same_model(run, place, tmp_path):
    assert run("train", "loans.parquet", "--target", "outcome", "-o", tmp_path / "other.snb")[0] == 0
    assert (tmp_path / "other.snb").read_bytes() == (place / "loans.snb").read_bytes()


def test_options_of_train_reach_the_model(run, tmp_path):
    saved = tmp_path / "model.snb"
    chosen = ["--numeric", "bins", "--nominal", "age", "--drop", "income,purpose", "-o", saved]
    assert run("train", "loans.csv", "--target", "outcome", *chosen)[0] == 0
    model = snb.load(saved)
    assert (model.numeric, model.nominal) == ("bins", ["age"])
    assert list(model.feature_names_in_) == ["age", "owns_home"]


@pytest.mark.parametrize("name", MODELS)
def test_every_model_that_is_offered_can_be_trained(run, name):
    code, out, _ = run("train", "loans.csv", "--target", "outcome", "--model", name)
    assert (code, f"  {name}" in out) == (0, True)


def test_a_target_that_is_not_there_lists_what_is(run):
    code, out, complaint = run("train", "loans.csv", "--target", "outcom")
    assert (code, out) == (1, "")
    assert complaint == (
        "seminaive: error: loans.csv has no column 'outcom'; did you mean 'outcome'? "
        "(its columns: purpose, income, age, owns_home, outcome)\n"
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x,y\n1,a\n2,\n3,\n", "the target 'y' is missing in 2 of 3 rows, first in row 1; leave such rows out"),
        ("x,y\n1,0.5\n2,1\n", "the target 'y' holds fractions such as 0.5, not labels"),
        ("x,y\n1,2020-01-01\n2,2020-01-02\n", "the target 'y' holds dates or times, not labels"),
        ("y\na\nb\n", "has no column besides the target to learn from"),
        ("x,y\ninf,a\n2,b\n", "column 'x', row 0: the value inf contains infinity"),
    ],
)
def test_rows_that_cannot_be_learned_are_one_sentence(run, tmp_path, text, sentence):
    code, out, complaint = run("train", csv_file(tmp_path, text), "--target", "y")
    assert (code, out) == (1, "")
    assert sentence in complaint
    assert complaint.count("\n") == 1


def test_few_rows_are_learned_but_not_scored(run, tmp_path):
    code, out, _ = run("train", csv_file(tmp_path, "x,y\n1,a\n2,b\n3,b\n"), "--target", "y")
    assert code == 0
    assert "too few rows for cross-validation (3; 10 are needed)" in out


def test_one_class_is_nothing_to_score(run, tmp_path):
    code, out, _ = run("train", csv_file(tmp_path, "x,y\n" + "1,a\n" * 20), "--target", "y")
    assert code == 0
    assert "the target holds 'a' only" in out


def test_labels_with_a_single_row_count_as_errors(run, tmp_path):
    text = "x,y\n" + "p,a\n" * 10 + "q,b\n" * 9 + "r,lonely\n"
    code, out, _ = run("train", csv_file(tmp_path, text), "--target", "y")
    assert code == 0
    assert "labels with a single row, which cannot be tested: lonely" in out
    assert float(out.split("  naive")[1].split()[0]) == 0.95


def test_a_model_that_helps_nobody_says_so(run, tmp_path):
    numbers = np.random.default_rng(0).random(200)
    data = csv_file(tmp_path, "x,y\n" + "".join(f"{x:.3f},{'aaaab'[i % 5]}\n" for i, x in enumerate(numbers)))
    assert "no better than always saying the most frequent class" in run("train", data, "--target", "y")[1]


def test_advice_of_the_library_is_a_note_said_once(run, tmp_path):
    text = "id,x,y\n" + "".join(f"{i},{i % 3},{'ab'[i % 2]}\n" for i in range(60))
    code, _, complaint = run("train", csv_file(tmp_path, text), "--target", "y")
    assert code == 0
    assert complaint.count("note: column 'id' may be an identifier") == 1
    assert "Warning" not in complaint


# --- predict ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_predict_writes_the_class_and_the_probability_of_every_class(run, tmp_path, name):
    assert run("predict", "loans.snb", "loans.csv", "-o", tmp_path / name) == (0, "", "")
    out = read_file(tmp_path / name)
    X, _ = make_loans(300)
    model = snb.load("loans.snb")
    assert out.column_names == ["class", "probability_late", "probability_paid"]
    assert out.column("class").to_pylist() == model.predict(X).tolist()
    both = np.column_stack([out.column(i).to_numpy() for i in (1, 2)])
    np.testing.assert_allclose(both, model.predict_proba(X), rtol=1e-15)


def test_without_a_file_to_write_predictions_are_printed(place):
    result = command_line(place, "predict", "loans.snb", "loans.csv")
    assert result.returncode == 0
    lines = result.stdout.splitlines()
    assert lines[0] == '"class","probability_late","probability_paid"'
    assert len(lines) == 301


def test_columns_are_found_by_name_and_others_ignored(run, tmp_path):
    frame = pd.read_csv("loans.csv").assign(note="x")
    frame[frame.columns[::-1]].to_csv(tmp_path / "new.csv", index=False)
    run("predict", "loans.snb", "loans.csv", "-o", tmp_path / "a.csv")
    run("predict", "loans.snb", tmp_path / "new.csv", "-o", tmp_path / "b.csv")
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()


def test_a_missing_column_is_named(run, tmp_path):
    code, _, complaint = run("predict", "loans.snb", csv_file(tmp_path, "purpose,Income,age\ncar,1,2\n"))
    assert code == 1
    assert "has no column 'income'; did you mean 'Income'?" in complaint


def test_levels_keep_their_type_whatever_the_new_file_looks_like(run, tmp_path):
    """Text levels that look like numbers, and numbers and truth values beside text, are the levels of training."""
    rows = "".join(
        f"{z},{i % 3},{b},{y}\n" for i, (z, b, y) in enumerate([("1", "true", "a"), ("x", "false", "b")] * 20)
    )
    data = csv_file(tmp_path, "zip,code,flag,y\n" + rows)
    saved = tmp_path / "m.snb"
    assert run("train", data, "--target", "y", "--nominal", "code", "-o", saved)[0] == 0
    all_alike = csv_file(tmp_path, "zip,code,flag\n1,2,true\n")
    alike = run("explain", saved, all_alike)[1]
    mixed = csv_file(tmp_path, "zip,code,flag\n1,2,true\nx,two,perhaps\n")
    assert run("explain", saved, mixed)[1] == alike
    assert "never seen" not in alike
    second = run("explain", saved, mixed, "--row", 1)[1]
    assert "two (never seen)" in second
    assert "perhaps (never seen)" in second


def test_text_where_training_had_numbers_names_the_cell(run, tmp_path):
    new = csv_file(tmp_path, "purpose,income,age,owns_home\ncar,1,2,no\ncar,much,2,no\n")
    code, _, complaint = run("predict", "loans.snb", new)
    assert code == 1
    assert "data.csv: column 'income', row 1 holds 'much', but the column held numbers in training" in complaint


def test_a_failed_prediction_leaves_the_old_file_and_no_other(run, tmp_path, monkeypatch):
    target = tmp_path / "out.csv"
    target.write_text("old")
    from pyarrow import csv

    def half(table, path):
        Path(path).write_text("half")
        raise OSError("no space left")

    monkeypatch.setattr(csv, "write_csv", half)
    code, _, complaint = run("predict", "loans.snb", "loans.csv", "-o", target)
    assert (code, complaint) == (1, "seminaive: error: no space left\n")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("out.csv", "old")]


@pytest.mark.parametrize(
    ("output", "sentence"),
    [
        ("out.xls", "must end in .csv or .parquet"),
        ("nowhere/out.csv", "there is no folder"),
        ("folder.csv", "it is a folder"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused(run, tmp_path, output, sentence):
    (tmp_path / "folder.csv").mkdir()
    code, _, complaint = run("predict", "loans.snb", "loans.csv", "-o", tmp_path / output)
    assert code == 1
    assert sentence in complaint


@pytest.mark.parametrize("model", ["loans.csv", "nothing.snb"])
def test_what_is_not_a_model_is_refused(run, model):
    code, out, complaint = run("predict", model, "loans.csv")
    assert (code, out) == (1, "")
    assert complaint.startswith(f"seminaive: error: {model}")


def test_a_model_learned_from_an_array_takes_columns_by_place(run, tmp_path):
    X = np.array([[0.0, 5.0], [1.0, 5.5], [0.2, 9.0], [1.3, 9.5]])
    model = snb.NaiveBayes().fit(X, [0, 1, 0, 1])
    model.save(tmp_path / "m.snb")
    new = csv_file(tmp_path, "p,q\n0,5\n1,5.5\n")
    assert run("predict", tmp_path / "m.snb", new, "-o", tmp_path / "o.csv") == (0, "", "")
    assert read_file(tmp_path / "o.csv").column("class").to_pylist() == model.predict(X[:2]).tolist()
    code, _, complaint = run("predict", tmp_path / "m.snb", csv_file(tmp_path, "p\n0\n"))
    assert (code, "has 1 columns; the model learned from 2 without names" in complaint) == (1, True)


# --- explain ----------------------------------------------------------------------------------------------------------


def test_explain_shows_the_row_that_was_asked_for(run):
    _, out, _ = run("explain", "loans.snb", "loans.csv", "--row", 7)
    X, _ = make_loans(300)
    assert out == str(snb.load("loans.snb").explain(X[7:8])).replace("row 0: ", "row 7: ") + "\n"


def test_explain_without_rows_says_what_was_learned(run):
    code, out, _ = run("explain", "loans.snb")
    assert (code, out) == (0, snb.load("loans.snb").summary() + "\n")


@pytest.mark.parametrize("rows", [["loans.csv"], []])
@pytest.mark.parametrize("ending", ["png", "svg"])
def test_explain_draws_a_picture(run, tmp_path, rows, ending):
    picture = tmp_path / f"why.{ending}"
    assert run("explain", "loans.snb", *rows, "--plot", picture)[0] == 0
    assert picture.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml")
    assert list(tmp_path.iterdir()) == [picture]


@pytest.mark.parametrize("row", [-1, 300])
def test_a_row_that_is_not_there_is_refused(run, row):
    code, _, complaint = run("explain", "loans.snb", "loans.csv", "--row", row)
    assert code == 1
    assert f"loans.csv has the rows 0 to 299; --row {row} is not among them" in complaint


def test_a_picture_in_an_unknown_format_is_refused(run):
    assert ".png, .svg, .pdf" in run("explain", "loans.snb", "loans.csv", "--plot", "why.doc")[2]


# --- the rest ---------------------------------------------------------------------------------------------------------


def test_the_version_is_the_packages(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert (end.value.code, capsys.readouterr().out) == (0, f"seminaive {snb.__version__}\n")


def test_help_shows_examples(capsys):
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    assert "seminaive train churn.csv --target churned -o churn.snb" in capsys.readouterr().out


@pytest.mark.parametrize(
    "arguments", [[], ["fly"], ["train", "a.csv"], ["train", "a.csv", "--target", "y", "--model", "x"]]
)
def test_a_command_that_is_not_understood_ends_with_code_2(arguments, capsys):
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "usage: seminaive" in capsys.readouterr().err


def test_an_interrupt_ends_with_code_130(run, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(snb.NaiveBayes, "fit", interrupted)
    assert run("train", "loans.csv", "--target", "outcome") == (130, "", "seminaive: interrupted\n")


def command_line(folder, *arguments):
    command = [sys.executable, "-m", "seminaive.cli", *arguments]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120, check=False)


def test_a_reader_that_stops_early_is_no_error(place):
    command = [sys.executable, "-m", "seminaive.cli", "predict", "loans.snb", "loans.csv"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.close()  # before anything was written
        assert process.stderr.read() == b""
        assert process.wait(timeout=120) == 0


# --- what is read stays as it is --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "command",
    [
        ("train", "mine.csv", "--target", "outcome", "-o", "mine.csv"),
        ("predict", "loans.snb", "mine.csv", "-o", "mine.csv"),
        ("predict", "loans.snb", "mine.csv", "-o", "link.csv"),
    ],
)
def test_the_file_that_is_read_is_never_overwritten(run, place, command):
    mine, link = place / "mine.csv", place / "link.csv"
    mine.write_bytes((place / "loans.csv").read_bytes())
    if not link.exists():
        link.symlink_to(mine)
    code, out, complaint = run(*command)
    assert (code, out) == (1, "")
    sentence = f"{command[-1]} is read by this command and would be overwritten; name another file to write"
    assert complaint == f"seminaive: error: {sentence}\n"
    assert mine.read_bytes() == (place / "loans.csv").read_bytes()


def test_where_a_model_cannot_be_saved_is_said_before_it_is_learned(run, place):
    for output, sentence in (
        ("nowhere/m.snb", f"cannot write nowhere/m.snb: there is no folder {place / 'nowhere'}"),
        (".", "cannot write .: it is a folder; name a file to write"),
    ):
        code, out, complaint = run("train", "loans.csv", "--target", "outcome", "-o", output)
        assert (code, out, complaint) == (1, "", f"seminaive: error: {sentence}\n")


def test_numbers_that_are_read_as_text_draw_a_note(run, tmp_path):
    rows = [f'{"old" if i == 3 else i},"{i},5",{"yes" if i % 3 else "no"}' for i in range(12)]
    data = csv_file(tmp_path, "\n".join(["age,size,y", *rows]))
    code, _, complaint = run("train", data, "--target", "y")
    assert code == 0
    assert complaint.splitlines() == [
        "note: column 'age' is read as text because row 3 holds 'old'; leave such cells empty if it is a number",
        "note: column 'size' is read as text because of its decimal commas; write decimal points if it is a number",
    ]
    assert run("train", data, "--target", "y", "--nominal", "age,size")[2] == ""
