"""What rules gain and cost: on recorded pairs, on random ones, along trees, and in time."""
