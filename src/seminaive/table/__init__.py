"""Frames become blocks of small integer codes."""
