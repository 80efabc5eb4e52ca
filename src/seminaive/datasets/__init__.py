"""The papers' generators."""
