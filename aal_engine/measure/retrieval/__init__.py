"""What was retrieved: the ranks of the judged documents, and every metric that follows from them."""
