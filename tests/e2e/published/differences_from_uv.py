"""Where uv's --torch-backend auto and Axle take different builds: the titles are those of docs/torch.md."""

from torch_index import TABLE

DRIVER_ONLY = "uv looks at the driver, Axle at the GPU too"
BACKEND_FIRST = "uv prefers the newest backend, Axle the newest release"
UNKNOWN_CODE = "uv takes builds whose code is unknown"
ROCM_TABLE = "uv has a list of AMD GPUs and ROCm indexes"
ROCM_RELEASES = "uv has one list for an index, Axle one for each release"
OLDEST_AMD = "Of several AMD GPUs the oldest decides for uv"
NVIDIA_ONLY = "Where there is an NVIDIA driver, uv checks no other GPU"
DRIVER_IS_GPU = "A driver is a GPU for uv"
OLD_BRANCH = "Drivers 450.36 to 450.66"
PROJECTS = "uv has more projects"
LABELS = "uv refuses labels that it does not know"
KEPT = "uv does not look at what is installed"
# Read in uv's source and documentation: no variable sets them up.
INTEL = "Any Intel display is an XPU for uv"
MIRROR = "uv has no mirror"
COMMANDS = "uv has it in some commands"
DEFAULT_INDEX = "uv leaves the default index out"

OF_ONE_GPU = [DRIVER_ONLY, BACKEND_FIRST, UNKNOWN_CODE, ROCM_TABLE]

NEWEST_CPU = ("2.15.0", "cpu")

# `told`: environment variables; `agents`: gfx names as ROCm's own program lists them.
SINGLE_CASES = {
    ROCM_RELEASES: {"machine": "rx7700xt", "told": [("UV_AMD_GPU_ARCHITECTURE", "gfx1101")],
                    "requirement": "torch==2.5.*", "ours": ("2.5.0", "cpu"), "uv": ("2.5.0", "rocm6.1")},
    # By default every GPU must be able to run the build, and both take the one with code for gfx900.
    OLDEST_AMD: {"machine": "amd:gpu=mi25;amd:gpu=mi300x", "agents": ["gfx900", "gfx942"], "options": ["--gpu-policy", "any"],
                 "ours": ("2.14.1", "rocm7.14"), "uv": ("2.14.1", "rocm7.2")},
    NVIDIA_ONLY: {"machine": "nvidia:gpu=gtx1080ti,driver=440.33;amd:gpu=mi50",
                  "told": [("UV_CUDA_DRIVER_VERSION", "440.33"), ("UV_AMD_GPU_ARCHITECTURE", "gfx906")],
                  "ours": ("2.14.1", "rocm7.2"), "uv": NEWEST_CPU},
    DRIVER_IS_GPU: {"machine": "nvidia:driver=580.65.06", "told": [("UV_CUDA_DRIVER_VERSION", "580.65.06")],
                    "ours": NEWEST_CPU, "uv": ("2.15.0", "cu132")},
    OLD_BRANCH: {"machine": "v100;nvidia:driver=450.36.06", "told": [("UV_CUDA_DRIVER_VERSION", "450.36.06")],
                 "ours": ("2.7.1", "cu118"), "uv": NEWEST_CPU},
}

ALL = OF_ONE_GPU + list(SINGLE_CASES) + [PROJECTS, LABELS, KEPT, INTEL, MIRROR, COMMANDS, DEFAULT_INDEX]


def is_of_aarch64(gpu):
    """Only aarch64 machines have these, and uv is told of GPUs, not of CPUs."""
    return any(name in ("xavier", "orin", "orinnano", "gh200", "gb200", "gb300", "thor", "gb10") for name in gpu["for"])


def release_of(version):
    return version.rsplit(".", 1)[0]


def code_of(version, label):
    """What the table says that a build has code for on x86-64; None: it is not known."""
    for release in TABLE["releases"]:
        for build in release["builds"]:
            if (release["version"], build["label"], build["platform"]) == (release_of(version), label, "linux_x86_64"):
                return None if build.get("code") == "unknown" else build.get("code", [])
    return None


def runs(code, gpu):
    """Compiled code on a GPU that is no Tegra: of its generation, and not newer."""
    if gpu["vendor"] != "nvidia":
        return gpu["arch"] in code
    major, minor = gpu["arch"].split(".")
    return any(one.split(".")[0] == major and one.split(".")[1] <= minor for one in code)


def is_older(version, other):
    return [int(part) for part in version.split(".")] < [int(part) for part in other.split(".")]


def reason(ours, theirs, gpu):
    """The title under which the page lists that uv takes `theirs` and Axle `ours`; None: under none."""
    if gpu["vendor"] == "amd":
        listed = isinstance(theirs, tuple)
        unlisted = not listed and "Unknown AMD GPU architecture" in theirs
        return ROCM_TABLE if unlisted or (listed and ours[1] == "rocm7.14") else None
    if not isinstance(theirs, tuple):
        return None
    code = code_of(*theirs)
    if code is not None and not runs(code, gpu):
        return DRIVER_ONLY
    if is_older(theirs[0], ours[0]):
        return BACKEND_FIRST
    return UNKNOWN_CODE if code is None else None
