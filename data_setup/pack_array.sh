#!/bin/bash
#SBATCH --job-name=pack
#SBATCH --array=0-15
#SBATCH --cpus-per-task=8
#SBATCH --time=02:00:00
# Packs a large collection with a Slurm job array, a shard a task. Give all options of `python -m data_setup`
# but --shards and --shard, then merge when every task is done:
#
#   job=$(sbatch --parsable data_setup/pack_array.sh imagenet train.tar --labels train.csv --count 1281167 --out big)
#   sbatch --dependency=afterok:$job --wrap "python -m data_setup merge --out big"
#
# The number of tasks is the number of shards. A task that was stopped goes on where it was when it runs again.
set -euo pipefail
exec python -m data_setup "$@" --shards "$SLURM_ARRAY_TASK_COUNT" --shard "$SLURM_ARRAY_TASK_ID"
