"""Pictures and words for evidence."""
