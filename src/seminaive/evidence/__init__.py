"""What a fitted model is: a prior, terms and a link."""
