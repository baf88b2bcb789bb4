"""A Slurm cluster of this machine alone: its own munge, controller and node, in a folder of the test."""

import ctypes
import os
import pwd
import shutil
import signal
import socket
import subprocess
import time

PROGRAMS = {"munged": "munge", "slurmctld": "slurmctld", "slurmd": "slurmd", "sbatch": "slurm-client"}


def found(name):
    return shutil.which(name, path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")


def missing_packages():
    return sorted({package for name, package in PROGRAMS.items() if not found(name)})


def end_with_parent():
    """prctl(2), PR_SET_PDEATHSIG: a test that is killed leaves no cluster behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)


def free_port():
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        return listening.getsockname()[1]


class SlurmCluster:
    """`env` makes Slurm's programs speak to it. stop() ends exactly what was started."""

    def __init__(self, folder, partitions="PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP"):
        self.folder = folder
        self.processes = []
        folder.mkdir()
        folder.chmod(0o755)
        user = pwd.getpwuid(os.getuid()).pw_name
        node = socket.gethostname().split(".")[0]
        key = folder / "munge.key"
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        for name in ("state", "spool"):
            (folder / name).mkdir()
        (folder / "cgroup.conf").write_text("CgroupAutomount=no\n")
        (folder / "slurm.conf").write_text(f"""ClusterName=axle
SlurmctldHost={node}(127.0.0.1)
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
SlurmctldPort={free_port()}
SlurmdPort={free_port()}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SlurmctldTimeout=300
SlurmdTimeout=300
MinJobAge=600
NodeName={node} NodeAddr=127.0.0.1 CPUs={os.cpu_count()} RealMemory=1000 State=UNKNOWN
{partitions}
""")
        self.env = {**os.environ, "SLURM_CONF": str(folder / "slurm.conf")}

    def start(self):
        """Waits until the node takes jobs. Raises RuntimeError, with the logs, if it never does."""
        self.run_daemon("munged", "--foreground", "--force", "--num-threads=2", f"--key-file={self.folder}/munge.key",
                        f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munge.pid",
                        f"--log-file={self.folder}/munge.log", f"--seed-file={self.folder}/munge.seed")
        self.wait_for(lambda: (self.folder / "munge.socket").exists())
        self.run_daemon("slurmctld", "-D", "-f", f"{self.folder}/slurm.conf")
        self.run_daemon("slurmd", "-D", "-f", f"{self.folder}/slurm.conf")
        self.wait_for(lambda: self.ask("sinfo", "--noheader", "--format=%T") in ("idle", "idle\nidle"))

    def run_daemon(self, name, *arguments):
        with open(self.folder / f"{name}.out", "wb") as out:
            self.processes.append(subprocess.Popen([found(name), *arguments], env=self.env, stdin=subprocess.DEVNULL,
                                                   stdout=out, stderr=subprocess.STDOUT, cwd=self.folder,
                                                   preexec_fn=end_with_parent))

    def wait_for(self, done, seconds=60):
        end = time.monotonic() + seconds
        while not done():
            if time.monotonic() > end or any(one.poll() is not None for one in self.processes):
                raise RuntimeError(self.logs())
            time.sleep(0.1)

    def ask(self, *command):
        done = subprocess.run([found(command[0]), *command[1:]], env=self.env, capture_output=True, text=True, timeout=60)
        return done.stdout.strip() if done.returncode == 0 else None

    def states(self):
        """{"12_0": "COMPLETED"}: of every task, also of those that have ended."""
        shown = self.ask("squeue", "--all", "--array", "--noheader", "--states=all", "--format=%i %T")
        return dict(line.split() for line in (shown or "").splitlines())

    def wait_for_jobs(self, seconds):
        """Until none waits or runs."""
        running = {"PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "REQUEUED"}
        self.wait_for(lambda: not running & set(self.states().values()), seconds)
        return self.states()

    def logs(self):
        return "\n".join(f"== {path.name}\n{path.read_text(errors='replace')[-3000:]}"
                         for path in sorted(self.folder.glob("*.log")) + sorted(self.folder.glob("*.out")))

    def stop(self):
        self.ask("scancel", f"--user={pwd.getpwuid(os.getuid()).pw_name}")
        for process in reversed(self.processes):
            process.terminate()
        for process in reversed(self.processes):
            try:
                process.wait(timeout=20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
