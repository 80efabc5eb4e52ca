"""Draw the pictures of the documentation: python docs/make_pictures.py."""

from pathlib import Path

import matplotlib

matplotlib.use("agg")
import matplotlib.pyplot as plt
import pandas as pd

import seminaive as snb
from seminaive.datasets import make_loans

PICTURES = Path(__file__).parent / "pictures"


def explain() -> None:
    """The evidence for and against one loan."""
    X, paid_back = make_loans()
    model = snb.NaiveBayes().fit(X, paid_back)
    newcomer = pd.DataFrame({"purpose": ["boat"], "income": [None], "age": [29], "owns_home": ["no"]})
    model.explain(newcomer).plot()
    plt.savefig(PICTURES / "explain.png", dpi=100, metadata={"Software": None})
    plt.close()


if __name__ == "__main__":
    PICTURES.mkdir(exist_ok=True)
    explain()
