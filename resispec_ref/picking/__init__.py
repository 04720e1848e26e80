"""How one of several candidates is picked so that its law comes close to the bound: ranks, weights, races."""
