"""What was counted, read many at once, kept as evidence with its time and place."""
