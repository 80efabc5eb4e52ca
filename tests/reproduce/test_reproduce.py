"""Tables beside the papers': printed as they are, failures included."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from seminaive.cli import main
from seminaive.reproduce import forest_figures, normal_gamma
from seminaive.reproduce.paper_table import Line, PaperTable, as_text
from seminaive.reproduce.registry import TABLES

DATA = os.environ.get("SEMINAIVE_DATA")


def test_without_a_name_all_tables_are_listed(capsys):
    assert main(["reproduce"]) == 0
    out = capsys.readouterr().out
    assert all(name in out and table.title in out for name, table in TABLES.items())


def test_an_unknown_table_is_one_sentence(capsys):
    assert main(["reproduce", "naive-dan"]) == 1
    assert "there is no table 'naive-dan'; did you mean 'naive-dna'?" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ([], "this table needs dna.parquet: name their folder with --data FOLDER, or in SEMINAIVE_DATA"),
        (["--data", "nowhere"], "nowhere is not a folder"),
        (["--data", "."], "holds no dna.parquet"),
    ],
)
def test_data_that_are_not_there_are_asked_for(capsys, monkeypatch, tmp_path, given, sentence):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SEMINAIVE_DATA", raising=False)
    assert main(["reproduce", "naive-dna", *given]) == 1
    assert sentence in capsys.readouterr().err


def test_the_folder_of_the_environment_is_used_unless_another_is_given(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("SEMINAIVE_DATA", str(tmp_path / "elsewhere"))
    assert main(["reproduce", "naive-dna"]) == 1
    assert "elsewhere" in capsys.readouterr().err
    assert main(["reproduce", "naive-dna", "--data", str(tmp_path)]) == 1
    assert "elsewhere" not in capsys.readouterr().err


def test_a_number_that_was_not_reproduced_is_printed_as_such():
    lines = [Line("good", 1.25, 1.2549), Line("bad", 1.25, 1.26), Line("given", 2.0, 2.0, by_construction=True)]
    table = PaperTable("A table", "A paper, Table 1", lambda _: lines, notes=("Mind this.",))
    text = as_text(table, lines).splitlines()
    assert text[:2] == ["A table", "A paper, Table 1"]
    assert text[4].split() == ["good", "1.25", "1.2549", "+0.0049"]
    assert text[5].split() == ["bad", "1.25", "1.2600", "+0.0100", "NOT", "REPRODUCED"]
    assert text[6].endswith("by construction")
    assert text[8:] == ["1 of 2 numbers reproduced, 1 NOT", "Mind this."]


@pytest.mark.parametrize("ours", [0.25, 0.2549, 0.245, 0.255])
def test_rounding_to_the_printed_digits_reproduces(ours):
    assert Line("x", 0.25, ours).reproduced


@pytest.mark.parametrize("ours", [0.2449, 0.2551, float("nan"), -0.25])
def test_anything_further_away_does_not(ours):
    assert not Line("x", 0.25, ours).reproduced


def test_digits_that_were_cut_off_are_compared_as_such():
    assert Line("x", 1.01, 1.0199, truncated=True).reproduced
    assert Line("x", 4.02, 4.02 - 1e-15, truncated=True).reproduced
    assert not Line("x", 1.02, 1.0199, truncated=True).reproduced


def test_the_normal_gamma_tables_are_reproduced(capsys):
    assert main(["reproduce", "normal-gamma-tables"]) == 0
    out = capsys.readouterr().out
    assert "36 of 36 numbers reproduced" in out
    assert "NOT" not in out


def test_the_normal_gamma_tables_would_fail_without_the_last_summand_of_beta():
    """The check of the samples has teeth: V2 negative would be no sample of N(5.4, 1)."""
    printed = next(p for p in normal_gamma.PRINTED if p.name == "V2 negative")
    _, squares = normal_gamma.sample_behind(printed)
    pulled = 2 * (printed.beta - printed.prior.beta0) - squares
    (line,) = [line for line in normal_gamma.lines(Path()) if line.what == "V2 negative: its variance"]
    assert line.reproduced
    assert not Line("x", 1.0, (squares + pulled) / 999, within=line.within).reproduced


@pytest.mark.skipif(not DATA, reason="SEMINAIVE_DATA names no folder of data")
def test_naive_bayes_errs_on_dna_as_often_as_in_the_paper(capsys):
    assert main(["reproduce", "naive-dna"]) == 0
    out = capsys.readouterr().out
    assert "5.3963" in out
    assert "2 of 2 numbers reproduced" in out


def test_the_forest_figures_go_on_without_the_files_they_lack_and_write_pictures(capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("SEMINAIVE_DATA", raising=False)
    monkeypatch.setattr(forest_figures, "_rivals", lambda values, y: [])  # slow, and not of this library
    assert main(["reproduce", "forest-figures", "--quick", "-o", str(tmp_path / "pictures")]) == 0
    out = capsys.readouterr().out
    for name in ("corral_noise1000", "heart_mdl", "madelon_binary", "chess"):
        assert f"passed over: {name}.parquet" in out
    lines = [line.split() for line in out.splitlines() if "generated, seed 0" in line]
    assert [line[-1] for line in lines] == ["5", "5"]  # the worst relevant column is the fifth
    assert float(lines[0][3]) > 0.999
    assert {path.name for path in (tmp_path / "pictures").iterdir()} == {
        f"corral-{width}-{what}.png" for width in (6, 100) for what in ("graph", "inclusion")
    }


@pytest.mark.slow
@pytest.mark.skipif(not DATA, reason="SEMINAIVE_DATA names no folder of data")
def test_the_forest_figures_are_what_trials_and_the_specification_say(capsys):
    """Acceptance figures 4, 5 and 6: corral, madelon from four seeds, chess."""
    assert main(["reproduce", "forest-figures"]) == 0
    out = capsys.readouterr().out
    assert "passed over" not in out
    assert "NOT " not in out
    assert out.count("relevant columns at .99 or more                              20          20") == 4
    noise = [float(line.split()[-1]) for line in out.splitlines() if "most probable noise column" in line]
    assert len(noise) == 4
    assert max(noise) <= 0.5
