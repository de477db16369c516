"""Shares of answers by question and segment: how far predictions are from them, and what sampling makes of it."""
