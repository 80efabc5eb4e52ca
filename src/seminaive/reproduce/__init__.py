"""The papers' tables beside ours, one command each."""
