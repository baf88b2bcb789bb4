"""`variant ci slurm`, run by a real Slurm that the test starts; and the runtime as an example."""

import pathlib
import shutil
import subprocess
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from ci_case import CiCase, HOSTILE, quoted
from slurm_cluster import SlurmCluster, missing_packages
from support import SOURCE

TWO_PARTITIONS = ("PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
                  "PartitionName=big Nodes=ALL MaxTime=60 State=UP")


class SlurmCase(CiCase):
    def setUp(self):
        super().setUp()
        if missing_packages():
            self.skipTest(f"Slurm is not installed (Debian: {' '.join(missing_packages())}); ./dev setup brings it")
        self.cluster = SlurmCluster(self.root / "slurm", TWO_PARTITIONS)
        self.addCleanup(self.cluster.stop)
        self.cluster.start()

    def environment(self, **more):
        return self.job_environment(SLURM_CONF=self.cluster.env["SLURM_CONF"], **more)

    def submit(self, *options, project=None, **environment):
        """The ids of all that was submitted, the last one publishes."""
        file = self.write_ci("slurm", project)
        done = self.call("sh", file, *options, env=self.environment(**environment))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return [line.split(" job ")[1].replace("array ", "").split(",")[0] for line in done.stdout.splitlines()]

    def log(self, name):
        return "\n".join(path.read_text() for path in sorted((self.out / "logs").iterdir()) if name in path.name)

    def details(self, job):
        return self.cluster.ask("scontrol", "show", "job", job) or ""


class ArraysTest(SlurmCase):
    def test_arrays_then_publishing(self):
        project = self.repository / HOSTILE
        index = "index " + HOSTILE
        self.write_project(f"""[tool.axle.ci]
index = {quoted(index)}
slurm = {{ time = "00:05:00", comment = {quoted(HOSTILE)} }}
[[tool.axle.ci.jobs]]
labels = ["v4", "plain"]
slurm = {{ partition = "big", time = "00:10:00" }}
""", folder=project)
        jobs = self.submit("--nice=7", project=project)
        self.assertEqual(len(jobs), 3)
        first, second = self.details(f"{jobs[0]}_0"), self.details(f"{jobs[1]}_0")
        for words, shown in ((("Partition=all", "TimeLimit=00:05:00", "Requeue=1", "Nice=7"), first),
                             (("Partition=big", "TimeLimit=00:10:00", "Requeue=1", "Nice=7"), second)):
            for word in words:
                self.assertIn(word, shown)
        self.assertIn(f"Comment={HOSTILE}", first)
        states = self.cluster.wait_for_jobs(240)
        tasks = {f"{jobs[0]}_0", f"{jobs[0]}_1", f"{jobs[1]}_0", f"{jobs[1]}_1", jobs[2]}
        self.assertEqual(states, dict.fromkeys(tasks, "COMPLETED"), self.log(""))
        self.assertEqual({path.name for path in (self.out / "logs").iterdir()},
                         {f"variants-build-x86_64-{jobs[0]}_0.log", f"variants-build-x86_64-{jobs[0]}_1.log",
                          f"variants-build-x86_64-2-{jobs[1]}_0.log", f"variants-build-x86_64-2-{jobs[1]}_1.log",
                          f"variants-publish-{jobs[2]}.log"})
        published = sorted(path.name for path in (self.repository / index).rglob("*.whl"))
        self.assertEqual(published, ["demo-1.0-py3-none-any-null.whl", "demo-1.0-py3-none-any-v3.whl",
                                     "demo-1.0-py3-none-any-v4.whl", "demo-1.0-py3-none-any.whl"])
        self.assert_nothing_ran()

    def test_nothing_is_published_after_a_failure(self):
        self.write_project('[tool.axle.ci]\nindex = "index"\n', code="raise ImportError('broken on purpose')\n")
        jobs = self.submit()
        states = self.cluster.wait_for_jobs(240)
        self.assertEqual(states.pop(jobs[-1]), "CANCELLED")
        self.assertIn("FAILED", set(states.values()))
        self.assertIn("broken on purpose", self.log("build"))
        self.assertFalse((self.repository / "index").exists())

    def test_a_task_that_is_requeued_ends_well(self):
        """The node is lost to it in the middle of its smoke test, once."""
        waiting = f"import pathlib, time\nif not pathlib.Path({str(self.root / 'again')!r}).exists():\n    time.sleep(120)\n"
        self.write_project('[tool.axle.ci]\nindex = "index"\n', code=waiting)
        jobs = self.submit()
        task = f"{jobs[0]}_0"
        self.cluster.wait_for(lambda: self.cluster.states().get(task) == "RUNNING" and "start 0" in self.log(f"{task}.log"))
        (self.root / "again").write_text("")
        self.assertIsNotNone(self.cluster.ask("scontrol", "requeue", task))
        # Slurm waits a while before it starts a requeued job again.
        states = self.cluster.wait_for_jobs(280)
        self.assertEqual(set(states.values()), {"COMPLETED"}, self.log(""))
        self.assertIn("start 0", self.log(f"{task}.log"))
        self.assertIn("start 1", self.log(f"{task}.log"))

    def test_what_cannot_be_submitted_leaves_nothing_behind(self):
        self.write_project('[[tool.axle.ci.jobs]]\nlabels = ["v4"]\nslurm = { partition = "none" }\n')
        file = self.write_ci("slurm")
        done = self.call("sh", file, "--hold", env=self.environment())
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("partition", done.stderr)
        self.assertEqual(set(self.cluster.states().values()), {"CANCELLED"})


class RuntimeTest(CiCase):
    """The runtime's own table. Few of its variants are built: time matters."""

    def setUp(self):
        super().setUp()
        if not all(shutil.which(name) for name in ("make", "cmake", "ninja", "g++")):
            self.skipTest("make, cmake, ninja or g++ is not installed")
        if shutil.which("ccache"):
            folder = subprocess.run(["ccache", "-k", "cache_dir"], capture_output=True, text=True).stdout.strip()
            self.env |= {"CMAKE_C_COMPILER_LAUNCHER": "ccache", "CMAKE_CXX_COMPILER_LAUNCHER": "ccache",
                         "CCACHE_BASEDIR": "/", "CCACHE_NOHASHDIR": "1", "CCACHE_DIR": folder}
        for folder in ("runtime", "detect", "foundation"):
            shutil.copytree(SOURCE / folder, self.repository / folder)
        self.runtime = self.repository / "runtime"

    def test_make_builds_a_native_and_a_cross_built_variant(self):
        file = self.write_ci("make", self.runtime)
        jobs = ["variant-x86_64_v2"]
        if shutil.which("aarch64-linux-gnu-g++") and shutil.which("qemu-aarch64"):
            jobs.append("variant-aarch64_dotprod-aarch64")
        done = self.call("make", "-j2", "-f", file, *jobs, seconds=1500)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        wheels = [path.name for path in (self.out / "wheels").rglob("*.whl")]
        self.assertEqual(len(wheels), len(jobs), wheels)
        if len(jobs) > 1:
            self.assertIn("libraries are loaded, not imported", done.stdout)

    def test_slurm_has_a_task_for_each_variant(self):
        text = self.write_ci("slurm", self.runtime).read_text()
        done = subprocess.run(["sh", "-n"], input=text, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("--array=0-9", text)
        self.assertIn("variants-cross-aarch64 --array=0-4", text)


if __name__ == "__main__":
    unittest.main()
