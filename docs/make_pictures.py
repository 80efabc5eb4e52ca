"""Draw the pictures of the documentation: python docs/make_pictures.py."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import pandas as pd

import seminaive as snb
from seminaive.datasets import make_loans, make_mailing

PICTURES = Path(__file__).parent / "pictures"


def explain() -> None:
    """The evidence for and against one loan."""
    X, paid_back = make_loans()
    model = snb.NaiveBayes().fit(X, paid_back)
    newcomer = pd.DataFrame({"purpose": ["boat"], "income": [None], "age": [29], "owns_home": ["no"]})
    model.explain(newcomer).plot()
    plt.savefig(PICTURES / "explain.png", dpi=100, metadata={"Software": None})
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
    mailing()
