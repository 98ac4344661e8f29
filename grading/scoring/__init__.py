"""From submissions to results: the scorer, local and Slurm runs, reports, regrades."""
