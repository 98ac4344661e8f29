"""Rules that turn what was recorded into findings, and the model that predicts their gain."""
