"""What all array types share: one body of arithmetic for floats and exact rationals, conversions, one draw."""
