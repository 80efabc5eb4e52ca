"""scikit-learn selectors and transformers.

selector           NBSelector
row_sets           which rows teach, judge and choose
filter_selectors   filters without a classifier
table_information  what columns tell about one another
association        MIC of columns
groups             columns that repeat each other
columns            what selectors share
discretizer        Discretizer
indicators         expert scores as indicators
scores             expert scores
windows            tests of a change in windows
series             series as people have them
"""
