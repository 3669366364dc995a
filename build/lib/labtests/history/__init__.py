"""What earlier runs came to: kept in a database, compared, and followed over the nights
(docs/history.md)."""
