"""Language models and what is recorded from a pair of them."""
