"""Several labs in one night: pytest on each, a summary at the end, and who is told of it
(docs/night.md)."""
