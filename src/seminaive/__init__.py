"""Classifiers that start from naive Bayes and repair it."""

__version__ = "0.1.0"
