"""Closed forms, flows and fast networks for the theory of concept learning."""
