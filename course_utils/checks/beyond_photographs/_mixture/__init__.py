"""Parts of the check of `mixture`: what is read from mixtures, and the rules."""
