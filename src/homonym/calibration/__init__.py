"""The limit and the weights of a run, from names whose authors are known."""

#: The paper's: a quarter of the names to choose parameters on, and at most so many names of each true size.
TRAINING_SHARE, MOST_NAMES = 0.25, 1000
#: Weights are learnt so often, from other samples each time.
SEEDS = 10
