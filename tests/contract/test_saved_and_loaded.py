"""A saved model predicts the same bits, here and in a fresh process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from estimators import ESTIMATORS, every_estimator
from tables import messy, with_unseen

import seminaive


@every_estimator
@pytest.mark.parametrize("labels", [("no", "yes"), (False, True), (1, 5, 7), (0.0, 2.0)])
def test_a_loaded_model_is_the_saved_one(make, labels, tmp_path):
    X, y = messy(classes=("a", "b", "c")[: len(labels)])
    y = np.array(labels)[np.unique(y, return_inverse=True)[1]]
    model = make().fit(X, y)
    model.save(tmp_path / "model.snb")
    loaded = seminaive.load(tmp_path / "model.snb")
    rows = with_unseen(X)
    np.testing.assert_array_equal(loaded.predict_joint_log_proba(rows), model.predict_joint_log_proba(rows))
    assert loaded.classes_.dtype == model.classes_.dtype
    assert loaded.predict(rows).tolist() == model.predict(rows).tolist()
    assert list(loaded.feature_names_in_) == list(X.columns)
    assert repr(loaded) == repr(model)
    assert loaded.summary() == model.summary()
    assert str(loaded.explain(rows)) == str(model.explain(rows))


FRESH = """
import sys, numpy as np, pandas as pd
folder = sys.argv[1]
X = pd.read_parquet(folder + "/rows.parquet")
for name in sys.argv[2:]:
    for module in [module for module in sys.modules if module.partition(".")[0] == "seminaive"]:
        del sys.modules[module]  # every model is the first that the library meets
    import seminaive
    model = seminaive.load(f"{folder}/{name}.snb")
    np.save(f"{folder}/{name}.npy", model.predict_joint_log_proba(X))
"""


def test_a_fresh_process_predicts_the_same_bits(tmp_path):
    X, y = messy()
    X.to_parquet(tmp_path / "rows.parquet")
    models = {name: make().fit(X, y) for name, make in ESTIMATORS}
    for name, model in models.items():
        model.save(tmp_path / f"{name}.snb")
    subprocess.run([sys.executable, "-c", FRESH, str(tmp_path), *models], check=True)
    for name, model in models.items():
        np.testing.assert_array_equal(np.load(tmp_path / f"{name}.npy"), model.predict_joint_log_proba(X))


@every_estimator
def test_an_unfitted_model_has_nothing_to_save(make, tmp_path):
    with pytest.raises(ValueError, match="not fitted"):
        make().save(tmp_path / "model.snb")
    assert list(tmp_path.iterdir()) == []
