"""The estimators, one file per model family."""
