"""The torch releases that were published as wheel variants, restated as facts.

Where each fact is from (GitHub repository @ commit, path):

  labels, properties, priorities, providers of 2.8.0 and 2.9.0
      wheelnext/variants-index-test @ f7c3080 (branch gh-pages): v0.0.2/torch/torch-2.{8,9}.0-variants.json and the same
      files below v0.0.3/; 2.9.0 as it was published first, one day before its namespace `priority`:
      175a558/torch/torch-2.9.0-variants.json there
  the same of 2.10.0, and 2.8.0 under a schema address without a version
      wheelnext/variant-repack @ e75a16d: configs/torch-2.10/torch-2.10.0-variants.json,
      configs/torch-2.8/torch-2.8.0-variants.json; 2.10.0 before it got its static list: the parent of 4abbf95 there
  platforms of each label: the file names on v0.0.3/torch/index.html of variants-index-test, Linux and Windows only
  dependencies: deps_add_list of configs/torch-*/torch_variant_config.toml in variant-repack, a few of each
  what a wheel itself says: all of the release's priorities and providers, its own label alone
      wheelnext/variantlib tags v0.0.2 and v0.0.3: make_variant_dist_info in variantlib/api.py
  torchvision 0.23.0, 0.24.0 and 0.25.0 carry byte for byte the document of the torch that they need

What could not be found:
  - the index page of 2.10.0. Its announcement names the platforms: those of 2.9.0, with ROCm 7.0 and 7.1 for 6.3 and
    6.4; the file names are taken from 2.9.0.
  - a published wheel. The build tables (torch_variant_config.toml) of 2.9 and 2.10 call the namespace of the order
    `property`, that of 2.10 also gives cuda13.0 a 110_real and rocm7.1 the version 7.0. No index document says so; the
    documents are followed.
"""

INTEL_9 = ["12.55.8", "12.60.7", "12.71.4", "12.74.4", "20.1.0", "20.4.4"]
INTEL_10 = [*INTEL_9, "30.0.4", "30.1.0"]
GFX_9 = ["gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201", "gfx900", "gfx906", "gfx908", "gfx90a", "gfx942"]
GFX_10 = [*GFX_9, "gfx1150", "gfx1151", "gfx950"]

LINUX, LINUX_ARM, WINDOWS = "manylinux_2_28_x86_64", "manylinux_2_28_aarch64", "win_amd64"
EVERYWHERE = [LINUX, LINUX_ARM, WINDOWS]
XPU_PLATFORMS = ["linux_x86_64", WINDOWS]  # never retagged: it stayed plain "linux"


def cuda(lower_bound, real, virtual=(), order=None):
    code = [f"{sm}_real" for sm in real] + [f"{sm}_virtual" for sm in virtual]
    properties = {"nvidia": {"cuda_version_lower_bound": [lower_bound], "sm_arch": code}}
    if order:
        properties["priority"] = {"order": [order]}
    return properties


def rocm(version, gfx):
    return {"amd": {"gfx_arch": gfx, "rocm_version": [version]}}


FROM_MAXWELL = [50, 60, 70, 75, 80, 86, 90]
FROM_VOLTA = [70, 75, 80, 86, 90, 100, 120]
FROM_TURING = [75, 80, 86, 90, 100, 120]

THREE_VENDORS = {
    "nvidia": ("nvidia-variant-provider>=0.0.2,<1.0.0", "nvidia_variant_provider.plugin:NvidiaVariantPlugin",
               ["Linux", "Windows"]),
    "intel": ("intel-variant-provider>=0.0.2,<1.0.0", "intel_variant_provider.plugin:IntelVariantPlugin",
              ["Linux", "Windows"]),
    "amd": ("amd-variant-provider>=0.0.2,<1.0.0", "amd_variant_provider.plugin:AMDVariantPlugin", ["Linux"]),
}


class Release:
    """`providers`: namespace -> (requirement, plugin-api, systems of its enable-if), in the order of priority;
    `order`: the values of `priority :: order`, where the release has that namespace; `dependencies`:
    (requirement, marker, the labels whose x86-64 Linux wheels need it)."""

    def __init__(self, version, null, providers, order, variants, platforms, dependencies, companion):
        self.version, self.null, self.providers, self.order = version, null, providers, order
        self.variants, self.platforms, self.dependencies = variants, platforms, dependencies
        self.companion = companion  # the version of torchvision that needs exactly this torch

    @property
    def namespaces(self):
        return [*self.providers, *(["priority"] if self.order else [])]


def cuda_dependencies_of_8():
    """2.8.0 tells its builds apart by the lower bound, the only difference that a marker could see."""
    bounds = {"12.0": ("cu126", "12.6.4.1"), "12.8": ("cu128", "12.8.4.1"), "12.9": ("cu129", "12.9.1.4")}
    for bound, (label, version) in bounds.items():
        tests = [f'"nvidia :: cuda_version_lower_bound :: {other}" {"in" if other == bound else "not in"} '
                 "variant_properties" for other in bounds]
        yield (f"nvidia-cublas=={version}",
               'platform_system == "Linux" and platform_machine == "x86_64" and ' + " and ".join(tests), {label})


CUDA_8 = {"cu126", "cu128", "cu129"}
CUDA_9 = {"cuda12.6", "cuda12.8", "cuda13.0"}


def cuda_dependencies(triton, cublas, old_nccl, old_nccl_marker, new_nccl):
    yield f"triton=={triton}", "platform_system == 'Linux' and 'nvidia' in variant_namespaces", CUDA_9
    for label, version in cublas.items():
        yield f"nvidia-cublas=={version}", f"platform_system == 'Linux' and variant_label == '{label}'", {label}
    yield f"nvidia-nccl=={old_nccl}", f"platform_system == 'Linux' and {old_nccl_marker}", {"cuda12.6", "cuda12.8"}
    yield f"nvidia-nccl=={new_nccl}", "platform_system == 'Linux' and variant_label == 'cuda13.0'", {"cuda13.0"}


ON_AMD = 'platform_system == "Linux" and platform_machine == "x86_64" and "amd" in variant_namespaces'

TORCH_8 = Release(
    version="2.8.0", null="00000000", companion="0.23.0", order=None,
    providers={"nvidia": ("nvidia-variant-provider>=0.0.1,<1.0.0", *THREE_VENDORS["nvidia"][1:])},
    variants={
        "00000000": {},
        "cu126": cuda("12.0", FROM_MAXWELL),
        "cu128": cuda("12.8", FROM_VOLTA),
        "cu129": cuda("12.9", FROM_VOLTA, [120]),
    },
    # On aarch64 there is one CUDA build, and it wants the newest driver.
    platforms={"00000000": EVERYWHERE, "cu126": [LINUX, WINDOWS], "cu128": [LINUX, WINDOWS], "cu129": EVERYWHERE},
    dependencies=[
        ("triton==3.4.0", 'platform_system == "Linux" and "nvidia" in variant_namespaces', CUDA_8),
        *cuda_dependencies_of_8(),
    ],
)

TORCH_9 = Release(
    version="2.9.0", null="null", companion="0.24.0", order=["1", "2", "3"], providers=THREE_VENDORS,
    variants={
        "null": {},
        # The lower bound is equal for both CUDA 12 builds, so `priority` breaks the tie.
        "cuda12.6": cuda("12.0", FROM_MAXWELL, order="3"),
        "cuda12.8": cuda("12.0", FROM_VOLTA, order="2"),
        "cuda13.0": cuda("13.0", FROM_TURING, [120], order="1"),
        "xpu": {"intel": {"device_ip": INTEL_9}},
        "rocm6.3": rocm("6.3", GFX_9),
        "rocm6.4": rocm("6.4", GFX_9),
    },
    platforms={"null": EVERYWHERE, "cuda12.6": EVERYWHERE, "cuda12.8": EVERYWHERE, "cuda13.0": EVERYWHERE,
               "xpu": XPU_PLATFORMS, "rocm6.3": [LINUX], "rocm6.4": [LINUX]},
    dependencies=[
        *cuda_dependencies("3.5.0", {"cuda12.6": "12.6.4.1", "cuda12.8": "12.8.4.1", "cuda13.0": "13.0.0.19"}, "2.27.5",
                           "'nvidia :: cuda_version_lower_bound :: 12.0' in variant_properties", "2.27.7"),
        ("pytorch-triton-xpu==3.5.0", "platform_system == 'Linux' and 'intel' in variant_namespaces", {"xpu"}),
        ("pytorch-triton-rocm==3.5.0", ON_AMD, {"rocm6.3", "rocm6.4"}),
    ],
)

TORCH_10 = Release(
    version="2.10.0", null="null", companion="0.25.0", order=["1", "2", "3"],
    providers={**THREE_VENDORS, "intel": ("intel-variant-provider>=0.0.3,<1.0.0", *THREE_VENDORS["intel"][1:])},
    variants={
        "null": {},
        "cuda12.6": cuda("12.0", FROM_MAXWELL, order="3"),
        "cuda12.8": cuda("12.0", FROM_VOLTA, order="2"),
        "cuda13.0": cuda("13.0", FROM_TURING, [120], order="1"),
        "xpu": {"intel": {"device_ip": INTEL_10}},
        "rocm7.0": rocm("7.0", GFX_10),
        "rocm7.1": rocm("7.1", GFX_10),
    },
    platforms={"null": EVERYWHERE, "cuda12.6": EVERYWHERE, "cuda12.8": EVERYWHERE, "cuda13.0": EVERYWHERE,
               "xpu": XPU_PLATFORMS, "rocm7.0": [LINUX], "rocm7.1": [LINUX]},
    dependencies=[
        *cuda_dependencies("3.6.0", {"cuda12.6": "12.6.4.1", "cuda12.8": "12.8.4.1", "cuda13.0": "13.1.0.3"}, "2.27.5",
                           "(variant_label == 'cuda12.6' or variant_label == 'cuda12.8')", "2.28.9"),
        ("triton-xpu==3.6.0", "'intel' in variant_namespaces", {"xpu"}),
        ("triton-rocm==3.6.0", ON_AMD, {"rocm7.0", "rocm7.1"}),
    ],
)
