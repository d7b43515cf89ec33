"""Known labels in, measures out: over all mentions, per name, by true size, with baselines beside them."""
