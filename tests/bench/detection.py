"""What knowing the machine costs: `variant detect` with and without GPUs, beside its peers.

usage: detection.py BIN STUBS [RUNS]

STUBS is the folder of the drivers' stand-ins (tests/detect/stubs, as built). The published Python providers and archspec
come from your registry (AXLE_TEST_REGISTRY=1), into an environment that is thrown away.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from processes import median_ms, paired, report

BIN, STUBS = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
RUNS = int(sys.argv[3]) if len(sys.argv) > 3 else 31
VARIANT = str(BIN / "variant")
EMPTY = ["/bin/true"]

PUBLISHED = ("from provider_variant_x86_64.plugin import X8664Plugin; "
             "[(config.name, list(config.values)) for config in X8664Plugin().get_supported_configs(None)]")
ARCHSPEC = "import archspec.cpu; archspec.cpu.host().features"


def without_gpus(environment):
    return report("variant detect, no GPU", *paired(RUNS, ([VARIANT, "detect"], environment), (EMPTY, environment)), 5)


def beside_published(folder, environment):
    """At least 15 times as fast as each of the published detectors, in turn with them."""
    if os.environ.get("AXLE_TEST_REGISTRY") != "1":
        print("published providers: skipped, AXLE_TEST_REGISTRY=1 lets this run install them from your registry")
        return True
    place = folder / "published"
    subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
    subprocess.run([place / "bin/pip", "-q", "--disable-pip-version-check", "install", "archspec",
                    "provider-variant-x86-64==0.0.1.post2"], check=True)
    python = str(place / "bin/python")
    met = True
    for name, program in (("provider-variant-x86-64", PUBLISHED), ("archspec", ARCHSPEC)):
        ours, theirs = paired(RUNS, ([VARIANT, "detect"], environment), ([python, "-c", program], environment))
        ratio = median_ms(theirs) / median_ms(ours)
        met &= ratio >= 15
        print(f"{name:<34} {median_ms(theirs):7.2f} ms; variant detect {median_ms(ours):.2f} ms: {ratio:.0f} times as fast; "
              f"bar 15: {'met' if ratio >= 15 else 'MISSED'}")
    return met


def with_gpus(folder, environment):
    """The stand-ins of NVML and CUDA: kept answers, and a cold start beside the drivers' own initialisation."""
    driven = environment | {"LD_LIBRARY_PATH": str(STUBS / "nvidia"), "AXLE_STUB": "ok"}
    subprocess.run([VARIANT, "detect"], env=driven, check=True, stdout=subprocess.DEVNULL)
    met = report("variant detect, GPU, warm", *paired(RUNS, ([VARIANT, "detect"], driven), (EMPTY, driven)), 5)
    for delay in (0, 50, 500):
        slow = driven | {"AXLE_STUB_DELAY": str(delay)}
        runs = RUNS if delay < 500 else max(5, RUNS // 4)
        cold, own = paired(runs, ([VARIANT, "detect", "--no-cache"], slow), ([str(BIN / "driver_init")], slow))
        more = median_ms(cold) - median_ms(own)
        met &= more <= 10
        print(f"{f'variant detect, GPU, init {delay} ms':<34} {median_ms(cold):7.2f} ms; the drivers alone {median_ms(own):.2f} ms: "
              f"{more:.2f} ms more; bar 10 ms: {'met' if more <= 10 else 'MISSED'}")
    return met


def main():
    folder = pathlib.Path(tempfile.mkdtemp(prefix="axle-bench-"))
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder), "AXLE_CACHE_DIR": str(folder / "cache")}
    try:
        met = without_gpus(environment)
        met &= beside_published(folder, environment)
        met &= with_gpus(folder, environment)
        return 0 if met else 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)


sys.exit(main())
