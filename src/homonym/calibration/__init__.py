"""The limit and the weights of a run, from names whose authors are known."""
