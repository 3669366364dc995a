"""The catalogue, a file for each family."""
