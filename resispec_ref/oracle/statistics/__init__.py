"""Evidence and confidence, with error rates that hold whenever one looks."""
