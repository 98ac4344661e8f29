#!/bin/bash
#SBATCH --job-name=pack
#SBATCH --array=0-15
#SBATCH --cpus-per-task=8
#SBATCH --time=02:00:00
# Packs a large collection with a Slurm job array, one shard per task. Pass all options of `python -m data_setup`
# except --shards and --shard. When every task has finished, the same command for all shards publishes the set,
# and makes what a task that was stopped has not made:
#
#   pack="imagenet train.tar --labels train.csv --count 1281167 --out big"
#   job=$(sbatch --parsable data_setup/pack_array.sh $pack)
#   sbatch --dependency=afterany:$job --wrap "python -m data_setup $pack --shards 16"
#
# The number of tasks is the number of shards.
set -euo pipefail
exec python -m data_setup "$@" --shards "$SLURM_ARRAY_TASK_COUNT" --shard "$SLURM_ARRAY_TASK_ID"
