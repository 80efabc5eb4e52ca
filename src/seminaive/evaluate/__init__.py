"""How good is it, and is the difference real?

compare      models on the same folds
comparison   what was found
inputs       models and data sets as given
finished     work kept for resuming
scores       how good predictions are
resampled    t tests over folds
ranks        ranks over data sets
adjust       p values adjusted
report       a comparison in words
plots        critical differences
calibration  can probabilities be trusted?
lift         whom to choose first
outcomes     what happened, checked
pictures     pictures of all that
"""
