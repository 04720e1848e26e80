"""The inputs of an audit: pairs of laws at one position, and toy models for chains and trees."""
