"""Evidence, paths and forests in words and pictures.

explain         from evidence to what people read
explanation     explanations in words, numbers and bars
summary         what a model learned, in words
bars            bar pictures
path            pictures of paths
front           what two rates can be had together
forest_graph    graphs of columns
forest_boxes    their boxes
forest_layout   where boxes go
forest_picture  the picture
forest_shares   shares of columns and pairs
forest_trace    how chains went
"""
