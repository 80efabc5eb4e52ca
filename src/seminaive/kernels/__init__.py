"""Every compiled function: plain loops over one-dimensional rows, grouped by the work they do."""
