"""What was written: citations, points, claims, abstention and support of one answer to one case."""
