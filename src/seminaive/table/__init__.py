"""Frames become blocks of small integer codes, wherever the rows are.

door             the way in: labelled rows become a Table, rows to predict become blocks
frames           the one place that knows pandas, Polars, Arrow, NumPy and sparse matrices
objects          columns of Python objects
sources          one column as read
files            CSV and Parquet, all at once
streams          Parquet, a stretch at a time
csv_stream       CSV, a stretch at a time
folders          folders of files
facts            what rows tell about their columns
schema           what is learned of the columns
encode           sources become blocks
block            a block of rows
table            a Table: a schema and its blocks
fold             kernels over blocks in memory
pieces           over blocks that are opened one after the other
scan             files read anew in every pass
disk             encoded rows on disk
parts            one file of encoded blocks
dask             rows on a cluster
cluster          tasks there
scratch          arrays kept beside blocks during a search
sums             class weights, counts, moments
pairs            counts of pairs, strip by strip
pair_scores      scores of pairs
families         counts of columns with their parents
discretize       numbers become bins
exact_quantiles  cuts at quantiles
mdl_bins         cuts where classes differ
width_bins       cuts of equal width
sample           a seeded subsample
gather           rows in one place
folds            rows dealt to folds
codes_out        bins handed back as a table
predictions      predictions written to Parquet
whole            files go out whole or not at all
"""
