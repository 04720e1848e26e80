"""What a verification rule is: the class that each one fills in, the registry of names, and its checked arguments."""
