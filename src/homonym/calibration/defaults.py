"""Default values of command line options; this module imports nothing, so that `homonym --help` stays fast."""

# As in the paper: a quarter of the names to choose parameters on, and a maximum number of names of each true size.
TRAINING_SHARE = 0.25
MAX_NAMES_PER_SIZE = 1000
# Number of random samples that weights are learnt from.
WEIGHT_SEEDS = 10
