#!/bin/bash
#SBATCH --job-name=pack
#SBATCH --array=0-15
#SBATCH --cpus-per-task=8
#SBATCH --time=02:00:00
# Packs a large collection with a Slurm job array, one shard per task. Pass all options of `python -m data_setup`
# except --shards and --shard, then merge when every task has finished:
#
#   job=$(sbatch --parsable data_setup/pack_array.sh imagenet train.tar --labels train.csv --count 1281167 --out big)
#   sbatch --dependency=afterok:$job --wrap "python -m data_setup merge --out big"
#
# The number of tasks is the number of shards. A task that was stopped resumes when it is run again.
set -euo pipefail
exec python -m data_setup "$@" --shards "$SLURM_ARRAY_TASK_COUNT" --shard "$SLURM_ARRAY_TASK_ID"
