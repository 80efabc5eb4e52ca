"""Classifiers that start from naive Bayes and repair it; every decision stays an exact, readable sum of evidence."""

from seminaive.evidence.storage import load
from seminaive.models.naive_bayes import NaiveBayes
from seminaive.table.door import encode
from seminaive.table.scan import scan_csv, scan_parquet
from seminaive.table.table import Table

__version__ = "0.1.0"

__all__ = ["NaiveBayes", "Table", "encode", "load", "scan_csv", "scan_parquet"]
