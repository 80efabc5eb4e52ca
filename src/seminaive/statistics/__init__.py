"""Arrays in, numbers out: no frames, no models, no state.

smoothing       from counts to log evidence, and how sure it is
conditional     the same for a column given its parents
adjustment      what one value says about the class, as adjustments
moments         counts, means and spreads that add up
double_double   arithmetic in twice the precision
normal_gamma    mean and precision under their prior
kernel_density  kernel densities as curves
quantiles       weighted quantiles, and cuts there
mdl             cuts where classes differ
roots           zeros of many rising functions at once
pull_levels     level probabilities pulled towards those all classes share
pull_gaussians  means and deviations likewise
information     how much columns tell about one another
pair_counts     levels of two columns within classes
mic             the maximal information coefficient
mic_null        how large it gets by chance
grouping        groups in which all resemble each other
constraints     promised class rates, as people write them
confusion       promised rates counted, and measured in cases
certificate     how sure a counted rate is
family          scores of columns and pairs in a Bayesian forest
forest_exact    the exact posterior over forests
forest_draws    independent draws from it
diagnostics     have chains met?
"""
