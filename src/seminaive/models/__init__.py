"""The estimators: what all share, then a file per family and its parts.

base               what users call
checks             parameters checked
numeric            how numeric columns are modelled
naive              from sums to naive Bayes evidence
level_priors       priors of levels
search_rows        rows and evidence as a search problem
naive_bayes        NaiveBayes
updating           rows added and taken out
kde                kernel densities
posterior          estimates with intervals
weighted           WeightedNB
selective          SelectiveNB
stagewise          StagewiseNB
mixed              evidence at every dose
penalized          PenalizedNB
pulled             columns pulled towards what is shared
adjusted           AdjustedNB
adjusted_terms     what is weighted
adjusted_problem   the problem of weighting it
adjusted_choice    how strongly weights are held
adjusted_report    what weights tell
constrained        ConstrainedNB
judging            who scores which rows
keeping            promises kept
constraint_report  what became of them
repeats            columns that repeat each other
dependence         what models with parents share
tree_augmented     TreeAugmentedNB
k_dependence       KDependenceNB
one_dependence     AveragedOneDependence
forest             BayesianForest
forest_scores      scores of columns and pairs
forest_sampling    from scores to forests
forest_samples     what is kept of them
forest_evidence    what predicts
forest_graphs      graphs and words
forest_traces      how chains went
"""
