"""Arrays in, numbers out: no frames, no models, no state."""
