"""Every compiled function: plain loops over one-dimensional rows, grouped by the work they do.

count          codes: counted, weighed, placed, binned
pair           pairs of columns within classes, by bits or by a loop; what they share
family         columns with their parents: counted, and what they say added up
moments        count, mean and spread of numbers, segment by segment
score          evidence of tables and Gaussians added to scores
search         all candidates of a greedy search, and rows that no move can turn
stagewise      what raising a dose by a step would do
newton         the row loops of a Newton step
offsets        what offsets within a zone can still achieve
discretize     cuts by minimum description length
mic            the maximal information coefficient
filters        mutual information of all pairs of indicators
scores         two-sample statistics of sliding windows
forest_sample  one chain of the forest sampler
"""
