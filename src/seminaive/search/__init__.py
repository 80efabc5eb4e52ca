"""One engine per kind of search; problems in, paths and choices out.

Sets of columns
    problem            what a greedy search works on
    odds               the definition every such search must equal
    tiles              rows as kernels read them
    candidates         all candidates scored
    undecided          rows that still have to be looked at
    greedy             one phase
    alternate          phases in turn
    path               the way a search went, and what to keep
    filters            rankings and subsets without a classifier
    trees              which columns depend on which
Doses
    dose_problem       what a stagewise search works on
    stagewise          one dose at a time raised by a step
    gains              log loss after every step
    step_errors        errors after every step
    doses              a path of doses
    along              the models along a path judged, and one chosen
Weights
    design             rows of evidence
    block_rows         blocks as such rows
    weighted_evidence  sums over rows
    ridge              Newton steps under a penalty
    gradient_only      without second derivatives
    unrestricted       without a penalty
    penalty            how strongly to hold weights
    size               weights of a given size
    bounded            quadratic minima with bounds
    linear             small linear algebra
Promises
    offsets            class offsets that keep promises
    attainable         what offsets can have of two recalls
    movable            a model whose parameters can move
    promises           moved until it keeps them
    polish             to the nearest model that does
    constrained        parameters moved until promises are kept: all of it
    mads               the same by mesh search
    proofs             proofs that it cannot be done
Forests
    forest_start       where chains begin
    forest_sampler     draws from the posterior
All
    progress           one line on the screen
"""
