"""A real Slurm of one node on this machine, for tests."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

COMMANDS = ("sbatch", "slurmctld", "slurmd", "munged", "scontrol", "squeue")
SBIN = f"{os.environ['PATH']}:/usr/sbin:/sbin"
CONF = """
ClusterName=test
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmctldPort={controller}
SlurmdPort={node}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket,cred_expire=5
CryptoType=crypto/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,sched_min_interval=100000
JobRequeue=1
KillWait=1
MinJobAge=300
ReturnToService=2
MpiDefault=none
DefMemPerCPU=100
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=2000 State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""


def missing() -> list[str]:
    """Return the missing commands of Slurm."""
    return [name for name in COMMANDS if shutil.which(name, path=SBIN) is None]


class SlurmNode:
    """munge, a Slurm controller and a node, stopped on exit.

    Their folder lies outside of pytest's: munge's account must enter it, and each further pytest closes the
    folder that all of them share.
    """

    def __init__(self) -> None:
        self.processes: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> "SlurmNode":
        self.folder = Path(tempfile.mkdtemp(prefix="slurm-", dir="/tmp"))
        try:
            self._start_all()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        for process in reversed(self.processes):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        shutil.rmtree(self.folder)

    def run(self, *command: str) -> str:
        """Run one of Slurm's commands; return its output."""
        environment = {**os.environ, **self.environment}
        return subprocess.run(command, env=environment, capture_output=True, text=True, check=False).stdout

    def _start_all(self) -> None:
        for name in ("state", "spool", "munge"):
            (self.folder / name).mkdir()
        self._start_munge()
        host = socket.gethostname().split(".")[0]
        values = {"host": host, "folder": self.folder, "cpus": os.cpu_count()}
        values |= {"controller": _free_port(), "node": _free_port()}
        (self.folder / "slurm.conf").write_text(CONF.format(**values))
        self.environment = {"SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": SBIN}
        self._start("slurmctld", "-D", "-c", "-f", str(self.folder / "slurm.conf"))
        self._start("slurmd", "-D", "-N", host, "-f", str(self.folder / "slurm.conf"))
        self._wait_until_idle()

    def _start_munge(self) -> None:
        munge, folder = pwd.getpwnam("munge"), self.folder / "munge"
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o400)
        for path in (folder, key):
            os.chown(path, munge.pw_uid, munge.pw_gid)
        options = ["--foreground", "--force", f"--key-file={key}", f"--socket={self.folder}/munge.socket"]
        options += [f"--pid-file={folder}/pid", f"--log-file={folder}/log", f"--seed-file={folder}/seed"]
        self.folder.chmod(0o777)
        self._start("munged", *options, user=munge.pw_uid, group=munge.pw_gid)

    def _start(self, name: str, *options: str, **identity: int) -> None:
        command = [shutil.which(name, path=SBIN), *options]
        environment = {**os.environ, **getattr(self, "environment", {})}
        log = (self.folder / f"{name}.out").open("wb")
        with log:
            self.processes.append(
                subprocess.Popen(
                    command, env=environment, stdout=log, stderr=log, start_new_session=True, **identity
                )
            )

    def _wait_until_idle(self) -> None:
        for _ in range(600):
            if "idle" in self.run("sinfo", "--noheader", "--format=%T"):
                return
            time.sleep(0.1)
        logs = "\n".join(
            path.read_text(errors="replace")[-2000:] for path in self.folder.glob("*.[lo][ou][gt]")
        )
        raise RuntimeError(f"Slurm did not start: {logs}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
