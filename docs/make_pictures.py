"""Draw the pictures of the documentation: python docs/make_pictures.py."""

import warnings
from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from scipy.ndimage import gaussian_filter

import seminaive as snb
from seminaive.datasets import make_corral, make_loans, make_mailing

PICTURES = Path(__file__).parent / "pictures"


def explain() -> None:
    """The evidence for and against one loan."""
    X, paid_back = make_loans()
    model = snb.NaiveBayes().fit(X, paid_back)
    newcomer = pd.DataFrame({"purpose": ["boat"], "income": [None], "age": [29], "owns_home": ["no"]})
    model.explain(newcomer).plot()
    plt.savefig(PICTURES / "explain.png", dpi=100, metadata={"Software": None})
    plt.close()


def forest() -> None:
    """What matters and what speaks together in corral with 94 shuffled columns."""
    axes = snb.plot.forest(snb.BayesianForest().fit(*make_corral(n_noise=94, seed=1)))
    axes.figure.savefig(PICTURES / "forest.png", dpi=110, metadata={"Software": None})
    plt.close()


def forest_trace() -> None:
    """Chains that have not met: 36 pixels of smooth pictures, with the published moves."""
    rng = np.random.default_rng(0)
    kind = rng.integers(0, 2, 3000)
    shades = gaussian_filter(rng.normal(size=(3000, 6, 6)), (0, 1, 1))
    pixels = shades.reshape(3000, 36) / shades.std() + 0.3 * kind[:, None] * (np.arange(36) % 2) > 0.5
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = snb.BayesianForest(moves="paper").fit(pixels, kind)
    axes = snb.plot.trace(model)
    axes.figure.savefig(PICTURES / "forest-trace.png", dpi=100, metadata={"Software": None})
    plt.close()


def mailing() -> None:
    """Probabilities that promise too much beside ones that can be trusted, and what trusting them earns."""
    X, y = make_mailing(random_state=1)
    new_X, new_y = make_mailing(20_000, random_state=2)
    _, (left, right) = plt.subplots(1, 2, figsize=(9.6, 4.2), layout="constrained")
    for model in (snb.NaiveBayes(), snb.AdjustedNB()):
        p = model.fit(X, y).predict_proba(new_X)
        name = type(model).__name__
        answers = p[:, 0]  # the probability of the first class, "answer"
        snb.plot.calibration(new_y == "answer", answers, label=name, ax=left)
        curve = snb.metrics.profit_curve(new_y == "answer", answers, gain=10, cost=2)
        (line,) = right.plot(curve.share, curve.profit, label=f"{name}, realised")
        right.plot(curve.share, curve.promised, "--", color=line.get_color(), label=f"{name}, promised")
        stop = (answers >= 0.2).mean()
        right.plot(stop, curve.profit[abs(curve.share - stop).argmin()], "o", color=line.get_color())
    right.set(xlim=(0, 1), ylim=(-4000, 20000), xlabel="share of customers written to", ylabel="profit")
    right.set_title("dots: where p falls below cost / gain = 0.2")
    right.legend()
    plt.savefig(PICTURES / "mailing.png", dpi=72, metadata={"Software": None})
    plt.close()


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    explain()
    forest()
    forest_trace()
    mailing()
