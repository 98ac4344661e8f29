"""Write a batch script that trains until it is done, over as many time limits as that takes."""

import shlex
from dataclasses import dataclass
from pathlib import Path

from course_utils.distributed.batch.presets import Preset
from course_utils.scratch import PRESETS as SCRATCH

TEMPLATE = """\
#!/bin/bash
#SBATCH --job-name={name}
#SBATCH --nodes={nodes}
#SBATCH --ntasks-per-node={preset.ranks_per_node}
#SBATCH --cpus-per-task={preset.cores_per_rank}
{system}#SBATCH --time={time}
#SBATCH --signal=B:USR1@{warning}  # to this shell, {warning} s before the time limit
#SBATCH --requeue  # also when a node fails
#SBATCH --open-mode=append  # one log for all starts
{staging}
# Slurm's signal interrupts `wait` below; srun passes it to the ranks, which write a checkpoint and end.
trap 'kill -USR1 "$ranks"' USR1

MASTER_ADDR=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)  # where rank 0 listens
MASTER_PORT=$((10000 + SLURM_JOB_ID % 20000))
export MASTER_ADDR MASTER_PORT OMP_NUM_THREADS=1 SRUN_CPUS_PER_TASK="$SLURM_CPUS_PER_TASK"

# shellcheck disable=SC2016 # each task has numbers of its own
srun bash -c 'RANK=$SLURM_PROCID LOCAL_RANK=$SLURM_LOCALID WORLD_SIZE=$SLURM_NTASKS exec "$@"' rank \\
    {command} &
ranks=$!
wait "$ranks"
while kill -0 "$ranks" 2>/dev/null; do wait "$ranks"; done
wait "$ranks"
status=$?

# Stopped before the end, and with a checkpoint: into the queue again. After an error: not.
if [ "$status" = 0 ] && [ ! -e {complete} ]; then
    scontrol requeue "$SLURM_JOB_ID"
fi
exit "$status"
"""

STAGING = """\

# First the data, by one process of each node; a copy that is there already is used again.
trap 'echo "The signal came before the data was staged: ask for more time." >&2; exit 1' USR1
copy=$(srun --ntasks="$SLURM_NNODES" --ntasks-per-node=1 {command}) || exit
copy=$(sort -u <<<"$copy")
[ -f "$copy" ] || {{ echo "The nodes have their copies in different places: $copy" >&2; exit 1; }}
"""


@dataclass(frozen=True)
class JobScript:
    """A batch script for Slurm.

    Attributes:
        pack: A pack of images, which all nodes can read.
        folder: For checkpoint and results, on the shared file system.
        preset: What to ask for per node.
        options: More arguments of `course_utils.distributed.train`.
        name: Of the job.
        nodes: Number of nodes.
        time: Time limit, as Slurm writes it.
        warning: Seconds between the signal and the time limit: more than a step and a checkpoint take. Slurm
            may send it up to 60 s early.
        account: Account to charge; empty for the default one.
        stage: Copy the pack to each node first, and train on the copies.
    """

    pack: Path
    folder: Path
    preset: Preset
    options: tuple[str, ...] = ()
    name: str = "feeding-the-gpu"
    nodes: int = 1
    time: str = "01:00:00"
    warning: int = 120
    account: str = ""
    stage: bool = False

    @property
    def text(self) -> str:
        """The script."""
        pack = '"$copy"' if self.stage else shlex.quote(str(self.pack))
        options = shlex.join(["--folder", str(self.folder), *self.options])
        return TEMPLATE.format(
            name=shlex.quote(self.name),
            nodes=self.nodes,
            preset=self.preset,
            system=self._for_the_system(),
            time=self.time,
            warning=self.warning,
            staging=self._staging() if self.stage else "",
            command=f"python -m course_utils.distributed.train {pack} {options}",
            complete=shlex.quote(str(self.folder / "complete")),
        )

    def _for_the_system(self) -> str:
        preset = self.preset
        options = [f"--account={self.account}"] if self.account else []
        options += [f"--partition={preset.partition}"] if preset.partition else []
        options += [f"--gpus-per-node={preset.ranks_per_node}"] if preset.gpus else []
        options += self._scratch_options()
        return "".join(f"#SBATCH {option}\n" for option in options)

    def _scratch_options(self) -> list[str]:
        """Return what nodes with a disk of their own are asked for by."""
        request = SCRATCH[self.preset.scratch].request if self.stage and self.preset.scratch else ""
        return [request.removeprefix("#SBATCH ")] if request else []

    def _staging(self) -> str:
        preset = ["--preset", self.preset.scratch] if self.preset.scratch else []
        command = ["python", "-m", "course_utils.scratch", "stage", str(self.pack), *preset]
        return STAGING.format(command=shlex.join(command))
