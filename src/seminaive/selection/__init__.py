"""scikit-learn selectors and transformers."""
