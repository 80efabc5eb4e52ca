r"""The Bayesian forest: which columns matter, which of them speak together, and how sure we are, all at once.

Every column is noise, which says nothing of the class, or signal, and has at most one parent in its group, so that a
graph G is a forest. Its posterior is that of the Bayesian-Dirichlet score with a prior that charges for edges and
signal columns (d columns, m classes, E_0 and E_1 edges among noise and signal, D_1 signal columns),

    P(G | X, y) ~ P(X | y, G) d^(-4 (E_0 + E_1 / m) - D_1 / m),

and a row's class probabilities are averaged over forests drawn from it:

    P(k | x) = mean over G of softmax_k( log P(k) + sum over signal columns j of log P(x_j | x_parent(j), k) )

Reference: Krakovna, Du and Liu, "Selective Bayesian Forest Classifier: simultaneous feature selection, interaction
detection and classification", arXiv 2015.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import numpy.typing as npt
from joblib import effective_n_jobs
from sklearn.exceptions import ConvergenceWarning

from seminaive.evidence.mixture import Mixture
from seminaive.models.base import EvidenceClassifier
from seminaive.models.checks import check_choice, check_nonnegative, check_whole
from seminaive.models.forest_evidence import forest_mixture
from seminaive.models.forest_graphs import average_graph, forest_in_words, one_forest
from seminaive.models.forest_samples import ForestPosterior, ForestSamples, unsettled
from seminaive.models.forest_sampling import SamplingPlan, plan_iterations, sample
from seminaive.models.forest_scores import score_columns
from seminaive.models.forest_traces import trace_of
from seminaive.models.naive import dirichlet_prior
from seminaive.models.numeric import as_modelled
from seminaive.search.progress import count_line
from seminaive.show.forest_graph import ForestGraph
from seminaive.show.forest_trace import ForestTrace
from seminaive.statistics.conditional import FamilySmoothing
from seminaive.table.schema import Floats, Integers
from seminaive.table.table import Table

if TYPE_CHECKING:
    import pandas as pd

LOG_POSTERIOR_RHAT, EDGE_RHAT = 1.05, 1.1
"""Above these the chains have not met."""


class BayesianForest(EvidenceClassifier):
    """Class probabilities, averaged over forests; how probable it is that a column matters, and that two interact.

    With up to 12 columns everything but the average is exact. With more, chains are run, and a warning says when they
    have not met. Columns of thousands are fine: what grows with the square of their number is 8 bytes.

    Parameters
    ----------
    n_iter : "auto", "exact" or int
        Iterations of every chain. "exact" sums over all forests of up to 14 columns, and draws independent ones to
        predict with. "auto" does so up to 12 columns, where it is cheaper; otherwise it takes max(10,000, 50 d)
        iterations, thinned the more the longer the chain is, so that the number of draws stays.
    chains : int
        Chains from different starts. One cannot tell whether it has been everywhere.
    thin : int
        Every which iteration is kept as a draw.
    burn_in : float
        Share of each chain that is thrown away at its beginning.
    concentration : float
        Dirichlet mass of every family in the score.
    edge_weight : float
        How much the prior charges for edges; 0 is free.
    signal_weight : float
        How much it charges for signal columns.
    moves : "joint" or "paper"
        The published moves rarely converge where columns are correlated.
    weights : "uniform" or "posterior"
        How much a draw counts in the prediction. "posterior" counts the posterior twice, as the authors' package does.
    numeric : "mdl" or "bins"
        Numeric columns become bins that tell the classes apart, or quantile bins.
    n_bins : int
        Quantile bins per numeric column when ``numeric="bins"``.
    missing : "value" or "skip"
        A missing value is a level of its own, or says nothing when predicting (which columns matter is judged with it
        as a level all the same).
    prior : "empirical", "uniform" or probabilities
        Class prior, in the order of the sorted labels.
    smoothing : float
        Mass that pulls a family's probabilities towards the column's overall distribution.
    smoothing_kind : "shrink" or "bd"
        "bd" spreads ``concentration`` evenly instead, the predictive distribution that belongs to the score.
    nominal : names, positions or mask, optional
        Columns that are nominal whatever their type. Text, categories and booleans always are.
    levels : dict, optional
        Per column, all levels it can have.
    max_levels : int, optional
        Fold the rarest levels of a column into one beyond this number.
    max_time : float, optional
        Seconds after which the chains stop, with a warning; the draws so far are used.
    n_jobs : int, optional
        Threads for counting, and for the chains; the draws do not depend on it.
    verbose : bool or int
        Show how far the chains are.
    random_state : int
        Seeds the chains, and the sample of rows that MDL cuts of a very large table are learned from.

    Attributes
    ----------
    inclusion_ : array (columns,)
        Probability that each column is signal. Of a column that is the same in all rows it is the prior alone.
    feature_importances_ : array (columns,)
        Inclusion, but 0 for columns that are the same in all rows.
    edges_ : DataFrame
        Pairs of columns joined in some draw: feature, with, group ("signal" or "noise"), probability, and the least
        and largest share among the chains (low, high); the most probable first.
    diagnostics_ : DataFrame
        R-hat and effective sample size of log posterior and signal size, and the worst of inclusions and edges.
    converged_ : bool
    exact_ : bool
        Whether inclusion and edges are exact.
    samples_ : ForestSamples
        The forests that predict.
    map_graph_ : ForestGraph
        The most probable forest met.
    constant_features_ : list
        Names of the columns that are the same in all rows.
    levels_ : int array (columns,)
        How many values of each column occur, missing among them.
    posterior_ : ForestPosterior
        What the forests say of columns, of pairs, and of themselves: all of the above is read from it.
    class_count_ : array
        Total weight of each class.
    evidence_ : Mixture

    See Also
    --------
    seminaive.plot.forest : the average graph as a picture.
    seminaive.plot.trace : how the chains went.
    seminaive.plot.inclusion : which columns matter, with what the chains disagree about.
    seminaive.plot.edges : which pairs are joined.

    Examples
    --------
    The class is 1 where two columns agree, each of which alone says nothing; the third is noise:

    >>> import numpy as np
    >>> import seminaive as snb
    >>> X = np.random.default_rng(0).integers(0, 2, (500, 3))
    >>> y = (X[:, 0] == X[:, 1]).astype(int)
    >>> model = snb.BayesianForest(nominal=[0, 1, 2]).fit(X, y)
    >>> model.inclusion_.round(2), model.exact_
    (array([1.  , 1.  , 0.09]), True)
    >>> model.edges(0.5)[["feature", "with", "group"]]
      feature with   group
    0       0    1  signal
    >>> model.predict([[1, 1, 0], [1, 0, 0]])
    array([1, 0])
    """

    evidence_: Mixture
    samples_: ForestSamples
    posterior_: ForestPosterior
    levels_: Integers
    class_count_: Floats

    def __init__(
        self,
        *,
        n_iter: str | int = "auto",
        chains: int = 4,
        thin: int = 50,
        burn_in: float = 0.2,
        concentration: float = 5.0,
        edge_weight: float = 4.0,
        signal_weight: float = 1.0,
        moves: str = "joint",
        weights: str = "uniform",
        numeric: str = "mdl",
        n_bins: int = 10,
        missing: str = "value",
        prior: Any = "empirical",
        smoothing: float = 1.0,
        smoothing_kind: FamilySmoothing = "shrink",
        nominal: Sequence[Any] | None = None,
        levels: Mapping[Any, Sequence[Any]] | None = None,
        max_levels: int | None = None,
        max_time: float | None = None,
        n_jobs: int | None = None,
        verbose: bool | int = 0,
        random_state: int = 0,
    ) -> None:
        self.n_iter = n_iter
        self.chains = chains
        self.thin = thin
        self.burn_in = burn_in
        self.concentration = concentration
        self.edge_weight = edge_weight
        self.signal_weight = signal_weight
        self.moves = moves
        self.weights = weights
        self.numeric = numeric
        self.n_bins = n_bins
        self.missing = missing
        self.prior = prior
        self.smoothing = smoothing
        self.smoothing_kind = smoothing_kind
        self.nominal = nominal
        self.levels = levels
        self.max_levels = max_levels
        self.max_time = max_time
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("moves", self.moves, ("joint", "paper"))
        check_choice("weights", self.weights, ("uniform", "posterior"))
        check_choice("numeric", self.numeric, ("mdl", "bins"))
        check_choice("missing", self.missing, ("value", "skip"))
        check_choice("smoothing_kind", self.smoothing_kind, ("shrink", "bd"))
        if isinstance(self.n_iter, str):
            check_choice("n_iter", self.n_iter, ("auto", "exact"))
        else:
            check_whole("n_iter", self.n_iter, at_least=1)
        for name in ("chains", "thin", "n_bins"):
            check_whole(name, getattr(self, name), at_least=1)
        check_whole("random_state", self.random_state, at_least=0)
        for name in ("burn_in", "concentration", "edge_weight", "signal_weight", "smoothing"):
            check_nonnegative(name, getattr(self, name))
        if self.burn_in >= 1:
            raise ValueError(f"burn_in is a share of each chain, 0 <= burn_in < 1; got {self.burn_in!r}")
        if self.concentration == 0:
            raise ValueError("concentration must be larger than 0: without any mass the score has no value")
        if self.max_time is not None:
            check_nonnegative("max_time", self.max_time)
        if isinstance(self.prior, str):
            check_choice("prior", self.prior, ("empirical", "uniform"))

    # --- learning -----------------------------------------------------------------------------------------------------

    def _learn(self, table: Table) -> None:
        d = len(table.schema.columns)
        n_iter, thin, burn_in = plan_iterations(self.n_iter, self.thin, self.burn_in, d)
        table = as_modelled(table, self.numeric, self.n_bins, self.random_state, self.n_jobs).kept(self.n_jobs)
        scored = score_columns(table, self.concentration, self.edge_weight, self.signal_weight, self.n_jobs)
        self.class_count_, self.levels_ = scored.class_weight, scored.levels
        plan = SamplingPlan(
            n_iter,
            thin,
            burn_in,
            self.chains,
            cast(Any, self.moves),
            self.weights,
            self.random_state,
            min(effective_n_jobs(self.n_jobs), self.chains),
            self.max_time,
        )
        progress = count_line("iterations of all chains", n_iter * self.chains, self.verbose)
        self.samples_, self.posterior_ = sample(scored.tables, plan, progress)
        del scored  # of thousands of columns the scores of all pairs are most of the memory
        bd = self.smoothing_kind == "bd"
        self.evidence_ = forest_mixture(
            table,
            self.samples_,
            self.class_count_,
            self.levels_ > 1,
            self._log_prior(),
            self.concentration if bd else self.smoothing,
            self.smoothing_kind,
            self.missing,
            self.n_jobs,
        )
        self._tell()

    def _log_prior(self) -> Floats:
        return dirichlet_prior(
            self.class_count_, self.prior, self.concentration if self.smoothing_kind == "bd" else 0.0
        )

    def _tell(self) -> None:
        """Nothing that was not reached is passed over."""
        posterior = self.posterior_
        if not posterior.complete:
            warnings.warn(
                f"the chains were stopped before {posterior.n_iter} iterations; the {len(self.samples_)} forests drawn "
                "so far are used",
                UserWarning,
                stacklevel=4,
            )
        if not self.converged_:
            rhat = self.diagnostics_["R-hat"]
            more = 4 * posterior.n_iter
            advice = [f"take more iterations (n_iter={more})"]
            if self.moves == "paper":
                advice.insert(0, "use moves='joint'")
            if self.chains == 1:
                advice.append("and several chains")
            warnings.warn(
                f"the chains have not met (R-hat {rhat['log posterior']:.2f} of the log posterior, "
                f"{rhat['edges']:.2f} of the worst edge): {', '.join(advice)}, and look at seminaive.plot.trace; "
                "predictions are averages all the same, but inclusion and edges may depend on the start",
                ConvergenceWarning,
                stacklevel=4,
            )

    # --- what was learned ---------------------------------------------------------------------------------------------

    @property
    def exact_(self) -> bool:
        """Whether inclusion and edges are exact."""
        return self._learned.exact

    @property
    def inclusion_(self) -> Floats:
        """Probability that each column is signal."""
        return self._learned.inclusion

    @property
    def feature_importances_(self) -> Floats:
        """Inclusion, but 0 for columns that are the same in all rows; for scikit-learn's ``SelectFromModel``."""
        return np.where(self._varies, self._learned.inclusion, 0.0)

    @property
    def edges_(self) -> pd.DataFrame:
        """All edges that occur, the most probable first."""
        return self.graph(0.0).to_frame()

    @property
    def diagnostics_(self) -> pd.DataFrame:
        """R-hat and effective sample sizes."""
        return self._learned.diagnostics()

    @property
    def converged_(self) -> bool:
        """Whether R-hat is at most 1.05 for the log posterior and 1.1 for every edge that is neither rare nor sure."""
        posterior = self._learned
        edges = posterior.edge_rhat[unsettled(posterior.probability)]
        return bool(posterior.overall[0, 0] <= LOG_POSTERIOR_RHAT and edges.max(initial=1.0) <= EDGE_RHAT)

    @property
    def constant_features_(self) -> list[Any]:
        """Names of the columns that are the same in all rows."""
        columns = self._fitted().schema.columns
        return [column.name for column, varies in zip(columns, self._varies.tolist(), strict=True) if not varies]

    @property
    def map_graph_(self) -> ForestGraph:
        """The most probable forest that was met; of all there are, when exact."""
        return one_forest(self._learned.best_parent, self._learned.best_group, self._names, self._varies)

    @property
    def _learned(self) -> ForestPosterior:
        self._fitted()
        return self.posterior_

    @property
    def _varies(self) -> npt.NDArray[np.bool_]:
        self._fitted()
        return self.levels_ > 1

    def get_support(self, threshold: float = 0.5, indices: bool = False) -> npt.NDArray[Any]:
        """Which columns are signal with at least this probability; those that are the same in all rows never are.

        Parameters
        ----------
        threshold : float
        indices : bool
            Positions instead of a mask.
        """
        chosen = self._varies & (self.inclusion_ >= threshold)
        return np.flatnonzero(chosen) if indices else chosen

    def edges(self, min_probability: float = 0.2) -> pd.DataFrame:
        """Pairs of columns that are joined with at least this probability, as `edges_`."""
        return self.graph(min_probability).to_frame()

    def graph(self, min_probability: float = 0.2, noise: bool = True) -> ForestGraph:
        """The average graph: columns that are signal, or joined, with at least this probability.

        Parameters
        ----------
        min_probability : float
        noise : bool
            Also edges among noise columns, which say nothing of the class.
        """
        return average_graph(self._learned, self._names, self._varies, min_probability, noise)

    def sample_graph(self, draw: int) -> ForestGraph:
        """One of the sampled forests, whose edges point from parent to child."""
        self._fitted()
        samples = self.samples_
        if not 0 <= draw < len(samples):
            raise ValueError(f"draw must be between 0 and {len(samples) - 1}, got {draw!r}")
        return one_forest(samples.parent[draw], samples.group[draw], self._names, self._varies)

    def trace(self, what: str = "log posterior") -> ForestTrace:
        """How the chains went, as numbers: ``to_frame`` of what `seminaive.plot.trace` draws.

        Parameters
        ----------
        what : "log posterior", "signal size", "edges", "autocorrelation" or "tree sizes"
        """
        self._fitted()
        return trace_of(what, self.samples_, self.posterior_, self._varies)

    @property
    def _names(self) -> list[str]:
        return [str(column.name) for column in self._fitted().schema.columns]

    def to_frame(self, min_probability: float = 0.2) -> pd.DataFrame:
        """The average graph as a table of edges."""
        return self.edges(min_probability)

    def to_dot(self, min_probability: float = 0.2) -> str:
        """The average graph in the language of Graphviz."""
        return self.graph(min_probability).to_dot()

    def to_networkx(self, min_probability: float = 0.2) -> Any:
        """The average graph as a networkx graph."""
        return self.graph(min_probability).to_networkx()

    def summary(self) -> str:
        """What was learned, in words."""
        found = forest_in_words(self._learned, self._names, self._varies, len(self.samples_), self.converged_)
        return self._in_words("Bayesian forest", *found)

    def _check_restored(self) -> None:
        super()._check_restored()
        d = len(self.evidence_.schema.columns)
        state = vars(self)
        fits = (
            isinstance(state.get("samples_"), ForestSamples)
            and isinstance(state.get("posterior_"), ForestPosterior)
            and self.samples_.parent.shape[1] == d
            and self.posterior_.inclusion.shape == (d,)
            and np.shape(state.get("levels_", ())) == (d,)
        )
        if not fits:
            raise ValueError("the model file's forests do not fit its columns")
