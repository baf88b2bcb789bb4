"""Machines with NVIDIA GPUs, working and broken.

Verdicts: NVIDIA CUDA driver API and NVML references, CUDA Compatibility. The reason codes are those of
docs/detection.md.
"""

import processors as p
from recordings import AL2023, GIB, LIB, UBUNTU22, UBUNTU24, Machine, expect_nvidia

NVML = "NVIDIA NVML and CUDA driver API references; "


def uuid(number):
    return f"GPU-{number}"


def cuda_number(version):
    major, minor = version.split(".")
    return int(major) * 1000 + int(minor) * 10


class Card:
    def __init__(self, address, device, name, capability, gib, mig=False):
        self.address, self.device, self.name = address, device, name
        self.capability, self.gib, self.mig = capability, gib, mig


def start(ident, sources, cpu=p.sapphire_rapids, **arguments):
    machine = Machine(ident, sources, **arguments)
    machine.x86(cpu)
    return machine


def on_the_bus(machine, cards, driver="nvidia", module=None, kind="0300"):
    for card in cards:
        machine.pci(card.address, 0x10DE, card.device, driver, kind)
        if module:
            machine.files[f"/proc/driver/nvidia/gpus/{card.address}/information"] = (
                f"Model: \t\t {card.name}\n")
    if module:
        machine.files["/sys/module/nvidia/version"] = module + "\n"
        machine.files["/proc/driver/nvidia/version"] = (
            f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {module}  Release Build\n")


def nvidia_nodes(machine, cards, access="rw"):
    machine.nodes("/dev/nvidiactl", "/dev/nvidia-uvm",
                  *(f"/dev/nvidia{number}" for number in range(len(cards))), access=access)


def cuda_lines(version, file):
    return [("step", "loading libcuda.so.1"), ("cuda.file", file), ("step", "cuDriverGetVersion"),
            ("cuda.version", cuda_number(version))]


def nvml_lines(cards, driver, cuda):
    lines = [("step", "loading libnvidia-ml.so.1"), ("step", "nvmlInit"), ("nvml.init", 0),
             ("nvml.driver", driver), ("nvml.cuda", cuda_number(cuda)), ("step", "nvmlDeviceGetCount"),
             ("nvml.count", len(cards))]
    for number, card in enumerate(cards):
        lines.append(("nvml.device", number, card.capability, f"0000{card.address.upper()}",
                      card.gib * GIB, uuid(number), card.name, f"10de:{card.device:04x}",
                      1 if card.mig else 0))
    return lines


def cuda_devices(cards):
    lines = [("step", "cuInit"), ("cuda.init", 0), ("cuda.count", len(cards))]
    for number, card in enumerate(cards):
        lines.append(("cuda.device", number, card.capability, card.address, card.gib * GIB, 0,
                      card.name))
    return lines


def expect_cards(machine, cards, usable="present", **facts):
    for card in cards:
        machine.gpu("nvidia", pci_address=card.address, name=card.name, arch=card.capability,
                    usable=usable, mig=card.mig, **facts)


def working_nvidia(machine, cards, driver, cuda, kind="0300"):
    on_the_bus(machine, cards, module=driver, kind=kind)
    nvidia_nodes(machine, cards)
    machine.library(LIB + "libcuda.so.1", LIB + "libnvidia-ml.so.1")
    machine.say("nvidia", cuda_lines(cuda, f"{LIB}libcuda.so.{driver}") + nvml_lines(cards, driver, cuda))
    expect_cards(machine, cards)
    machine.driver("nvidia", kernel_version=driver, library_version=driver, api_version=cuda,
                   usable="present")
    newest = max(cards, key=lambda card: [int(part) for part in card.capability.split(".")])
    machine.properties["nvidia"] = expect_nvidia(cuda, newest.capability)


def h100s(count):
    return [Card(f"0000:{0x10 + 0x10 * number:02x}:00.0", 0x2330, "NVIDIA H100 80GB HBM3", "9.0", 80)
            for number in range(count)]


def nvidia_working():
    machine = start("p5-h100x8", NVML + "AWS EC2 P5 documentation", cpus=192, kernel="6.1.0-amzn2023",
                    glibc="2.34", os=AL2023, cpu=p.zen3)
    working_nvidia(machine, h100s(8), "550.54.14", "12.4", "0302")
    yield machine
    machine = start("p5en-h200x8", NVML + "AWS EC2 P5en documentation", cpus=192)
    working_nvidia(machine, [Card(f"0000:{0x50 + number:02x}:00.0", 0x2335, "NVIDIA H200", "9.0", 141)
                             for number in range(8)], "580.65.06", "13.0", "0302")
    yield machine
    # an old driver: CUDA 12.2, no compressed fatbins (they need 12.4)
    machine = start("rtx4090-r535", NVML + "GeForce RTX 4090 specifications", cpu=p.raphael)
    working_nvidia(machine, [Card("0000:01:00.0", 0x2684, "NVIDIA GeForce RTX 4090", "8.9", 24)],
                   "535.54.03", "12.2")
    yield machine
    machine = start("rtx5090-r570", NVML + "GeForce RTX 5090 specifications", cpu=p.zen5)
    working_nvidia(machine, [Card("0000:01:00.0", 0x2B85, "NVIDIA GeForce RTX 5090", "12.0", 32)],
                   "570.86.16", "12.8")
    yield machine
    # CUDA 13 on a GPU that CUDA 13's toolkit builds nothing for
    machine = start("gtx1080-r580", NVML + "GeForce GTX 1080 specifications", cpu=p.skylake)
    working_nvidia(machine, [Card("0000:01:00.0", 0x1B80, "NVIDIA GeForce GTX 1080", "6.1", 8)],
                   "580.65.06", "13.0")
    yield machine
    # unlike GPUs
    machine = start("rtx5090-rtx2080", NVML + "GeForce specifications", cpu=p.zen5)
    working_nvidia(machine, [Card("0000:01:00.0", 0x1E87, "NVIDIA GeForce RTX 2080", "7.5", 8),
                             Card("0000:41:00.0", 0x2B85, "NVIDIA GeForce RTX 5090", "12.0", 32)],
                   "580.65.06", "13.0")
    # no code runs on both as it is (the policy `all`)
    machine.properties["nvidia"] = expect_nvidia("13.0")
    yield machine
    # partitioned: the capability is the whole GPU's
    machine = start("a100-mig", NVML + "NVIDIA MIG user guide", cpu=p.zen2, glibc="2.35", os=UBUNTU22)
    working_nvidia(machine, [Card("0000:01:00.0", 0x20B0, "NVIDIA A100-SXM4-40GB", "8.0", 40, mig=True)],
                   "550.54.14", "12.4", "0302")
    yield machine
    # a mask that names one of two GPUs
    machine = start("h100x2-masked", NVML + "CUDA programming guide, environment variables")
    cards = h100s(2)
    working_nvidia(machine, cards, "570.86.16", "12.8", "0302")
    machine.variable("CUDA_VISIBLE_DEVICES", uuid(1))
    machine.expected["gpus"][0]["masked"] = True
    machine.expected["gpus"][1]["masked"] = False
    yield machine


def nvidia_elsewhere():
    # Windows' driver: no kernel module, no PCI device of NVIDIA's, one node
    machine = Machine("wsl-rtx4090", NVML + "NVIDIA CUDA on WSL user guide", cpus=32, os=UBUNTU22,
                      kernel="5.15.153.1-microsoft-standard-WSL2", glibc="2.35")
    machine.x86(p.raphael, hypervisor="Microsoft Hv")
    machine.expected["cpu"]["hypervisor"] = "Microsoft Hv"
    machine.pci("5582:00:00.0", 0x1414, 0x008E, "dxgkrnl", "0302")
    machine.nodes("/dev/dxg")
    wsl = "/usr/lib/wsl/lib/"
    machine.library(wsl + "libcuda.so.1", wsl + "libnvidia-ml.so.1", wsl + "libdxcore.so")
    card = Card("0000:01:00.0", 0x2684, "NVIDIA GeForce RTX 4090", "8.9", 24)
    machine.say("nvidia", cuda_lines("12.6", wsl + "libcuda.so.1") + nvml_lines([card], "560.94", "12.6") +
                cuda_devices([card]))
    expect_cards(machine, [card])
    machine.driver("nvidia", library_version="560.94", api_version="12.6", usable="present")
    machine.expected["os"]["wsl"] = True
    machine.properties["nvidia"] = expect_nvidia("12.6", "8.9")
    yield machine
    # Tegra is not SBSA: CUDA alone answers, without a PCI address
    for ident, cpu, release, l4t, name, capability, cuda, gib, system in (
            ("jetson-orin-jp6", p.cortex_a78ae, "# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: "
             "generic, EABI: aarch64\n", "36.4.3", "Orin", "8.7", "12.6", 64, UBUNTU22),
            ("jetson-thor-jp7", p.neoverse_v3ae, "# R38 (release), REVISION: 2.0, GCID: 41844464, BOARD: "
             "generic, EABI: aarch64\n", "38.2.0", "NVIDIA Thor", "11.0", "13.0", 128, UBUNTU24)):
        machine = Machine(ident, NVML + "NVIDIA Jetson Linux developer guide", cpus=12, arch="aarch64",
                          kernel="5.15.148-tegra" if l4t < "37" else "6.8.12-tegra", os=system,
                          glibc="2.35" if l4t < "37" else "2.39")
        machine.arm(cpu)
        machine.files["/etc/nv_tegra_release"] = release
        machine.files["/sys/devices/soc0/family"] = "Tegra\n"
        machine.nodes("/dev/nvhost-gpu", "/dev/nvmap", "/dev/nvhost-ctrl-gpu")
        tegra = "/usr/lib/aarch64-linux-gnu/nvidia/"
        machine.library(tegra + "libcuda.so.1")
        machine.say("nvidia", cuda_lines(cuda, tegra + "libcuda.so.1.1") +
                    [("step", "loading libnvidia-ml.so.1"), ("nvml.missing", "libnvidia-ml.so.1"),
                     ("step", "cuInit"), ("cuda.init", 0), ("cuda.count", 1),
                     ("cuda.device", 0, capability, "", gib * GIB, 1, name)])
        machine.gpu("nvidia", name=name, arch=capability, usable="present", integrated=True,
                    pci_address=None)
        machine.driver("nvidia", api_version=cuda, usable="present")
        machine.expected["os"]["tegra_release"] = l4t
        machine.properties["nvidia"] = expect_nvidia(cuda, capability)
        yield machine
    # Grace and Hopper on one board: SBSA, with the CPU of an Arm server
    machine = Machine("gh200-r570", NVML + "NVIDIA Grace Hopper documentation", cpus=72, arch="aarch64",
                      kernel="6.5.0-nvidia-64k", glibc="2.35", os=UBUNTU22)
    machine.arm(p.neoverse_v2)
    cards = [Card("0009:01:00.0", 0x2342, "NVIDIA GH200 480GB", "9.0", 96)]
    on_the_bus(machine, cards, module="570.86.15", kind="0302")
    nvidia_nodes(machine, cards)
    arm_lib = "/usr/lib/aarch64-linux-gnu/"
    machine.library(arm_lib + "libcuda.so.1", arm_lib + "libnvidia-ml.so.1")
    machine.say("nvidia", cuda_lines("12.8", arm_lib + "libcuda.so.570.86.15") +
                nvml_lines(cards, "570.86.15", "12.8"))
    expect_cards(machine, cards)
    machine.driver("nvidia", kernel_version="570.86.15", api_version="12.8", usable="present")
    machine.properties["nvidia"] = expect_nvidia("12.8", "9.0")
    yield machine
    # gVisor shows neither driver links nor the module; the driver lies on the library path
    machine = start("gke-sandbox-l4", NVML + "gVisor, GPU support; GKE documentation")
    machine.container("docker")
    cards = [Card("0000:00:03.0", 0x27B8, "NVIDIA L4", "8.9", 24)]
    on_the_bus(machine, cards, driver="", kind="0302")
    nvidia_nodes(machine, cards)
    folder = "/usr/local/nvidia/lib64/"
    machine.variable("LD_LIBRARY_PATH", folder.rstrip("/"))
    machine.library(folder + "libcuda.so.1", folder + "libnvidia-ml.so.1")
    machine.say("nvidia", cuda_lines("12.4", folder + "libcuda.so.550.90.07") +
                nvml_lines(cards, "550.90.07", "12.4"))
    expect_cards(machine, cards)
    machine.driver("nvidia", library_version="550.90.07", api_version="12.4", usable="present")
    machine.properties["nvidia"] = expect_nvidia("12.4", "8.9")
    yield machine


def blocked(machine, cards, code, driver, **facts):
    """Every card is there and none can be used."""
    for card in cards:
        machine.gpu("nvidia", pci_address=card.address, usable="blocked", reason_code=code)
    machine.driver("nvidia", usable="blocked", reason_code=code, **driver, **facts)
    machine.problem("nvidia." + code)


def nvidia_broken():
    # The kernel module shows through into every container of the host; nothing else is there.
    machine = start("docker-without-gpus", NVML + "NVIDIA Container Toolkit documentation")
    machine.container("docker")
    cards = h100s(1)
    on_the_bus(machine, cards, module="570.86.15", kind="0302")
    blocked(machine, cards, "no-device-nodes", {"kernel_version": "570.86.15"})
    yield machine
    # Devices were passed, the driver's libraries were not.
    machine = start("docker-without-libcuda", NVML + "NVIDIA Container Toolkit documentation")
    machine.container("docker")
    on_the_bus(machine, cards, module="570.86.15", kind="0302")
    nvidia_nodes(machine, cards)
    machine.say("nvidia", [("step", "loading libcuda.so.1"), ("cuda.missing", "libcuda.so.1: cannot open "
                "shared object file: No such file or directory"),
                ("step", "loading libnvidia-ml.so.1"), ("nvml.missing", "libnvidia-ml.so.1: cannot open "
                 "shared object file: No such file or directory")])
    blocked(machine, cards, "no-user-driver", {"kernel_version": "570.86.15"})
    yield machine
    # An upgrade without a reboot: libraries of 570, module of 550.
    machine = start("driver-mismatch", NVML + "codes 18 and 803")
    on_the_bus(machine, cards, module="550.54.14", kind="0302")
    nvidia_nodes(machine, cards)
    machine.library(LIB + "libcuda.so.1", LIB + "libnvidia-ml.so.1")
    machine.say("nvidia", cuda_lines("12.8", LIB + "libcuda.so.570.86.15") +
                [("step", "loading libnvidia-ml.so.1"), ("step", "nvmlInit"), ("nvml.init", 18),
                 ("step", "cuInit"), ("cuda.init", 803)])
    blocked(machine, cards, "driver-mismatch", {"kernel_version": "550.54.14"})
    yield machine
    # The module is not loaded: installed, and the machine not yet booted into it.
    machine = start("driver-not-loaded", NVML + "codes 9 and 100")
    on_the_bus(machine, cards, driver="", kind="0302")
    machine.library(LIB + "libcuda.so.1", LIB + "libnvidia-ml.so.1")
    machine.say("nvidia", cuda_lines("12.8", LIB + "libcuda.so.570.86.15") +
                [("step", "loading libnvidia-ml.so.1"), ("step", "nvmlInit"), ("nvml.init", 9),
                 ("step", "cuInit"), ("cuda.init", 100)])
    blocked(machine, cards, "no-kernel-driver", {"library_version": "570.86.15"})
    yield machine
    # NVML hangs: what libcuda said before counts.
    machine = start("nvml-hangs", NVML + "go-nvml issue 152")
    on_the_bus(machine, cards, module="570.148.08", kind="0302")
    nvidia_nodes(machine, cards)
    machine.library(LIB + "libcuda.so.1", LIB + "libnvidia-ml.so.1")
    machine.say("nvidia", cuda_lines("12.8", LIB + "libcuda.so.570.148.08") +
                [("step", "loading libnvidia-ml.so.1"), ("step", "nvmlInit")], end="timed_out")
    blocked(machine, cards, "driver-hangs", {"kernel_version": "570.148.08", "api_version": "12.8"})
    yield machine
    # libcuda crashes in cuInit, after NVML answered.
    machine = start("cuda-crashes", NVML + "SIGSEGV in a driver library")
    on_the_bus(machine, cards, module="570.86.15", kind="0302")
    nvidia_nodes(machine, cards)
    machine.library(LIB + "libcuda.so.1")
    machine.say("nvidia", cuda_lines("12.8", LIB + "libcuda.so.570.86.15") +
                [("step", "loading libnvidia-ml.so.1"), ("nvml.missing", "libnvidia-ml.so.1"),
                 ("step", "cuInit")], end="crashed", signal=11)
    blocked(machine, cards, "driver-crashed", {"kernel_version": "570.86.15", "api_version": "12.8"})
    yield machine
    # NVSwitch without its manager: the build for CUDA is still the right one.
    machine = start("hgx-no-fabric-manager", NVML + "code 802, Fabric Manager user guide")
    cards = h100s(2)
    working_nvidia(machine, cards, "570.86.15", "12.8", "0302")
    machine.part("drivers")["nvidia"]["lines"] += ["nvml.fabric\t0\t1", "step\tcuInit", "cuda.init\t802"]
    machine.problem("nvidia.not-ready")
    yield machine
    # nouveau holds the GPU.
    cards = [Card("0000:01:00.0", 0x1B80, "", "6.1", 8)]
    machine = start("nouveau", "Linux nouveau documentation", cpu=p.skylake)
    on_the_bus(machine, cards, driver="nouveau")
    blocked(machine, cards, "other-driver", {})
    yield machine
    # reserved for a virtual machine
    machine = start("vfio-h100", "Linux Documentation/driver-api/vfio.rst")
    cards = h100s(1)
    on_the_bus(machine, cards, driver="vfio-pci", kind="0302")
    blocked(machine, cards, "other-driver", {})
    yield machine
    # the user may not open the nodes
    machine = start("nvidia-no-permission", NVML + "code 4")
    on_the_bus(machine, cards, module="570.86.15", kind="0302")
    nvidia_nodes(machine, cards, access="none")
    machine.library(LIB + "libcuda.so.1", LIB + "libnvidia-ml.so.1")
    machine.say("nvidia", cuda_lines("12.8", LIB + "libcuda.so.570.86.15") +
                [("step", "loading libnvidia-ml.so.1"), ("step", "nvmlInit"), ("nvml.init", 4),
                 ("step", "cuInit"), ("cuda.init", 100)])
    blocked(machine, cards, "no-permission", {"kernel_version": "570.86.15"})
    yield machine


def compat():
    folder = "/usr/local/cuda/compat/"
    # a data-centre GPU: a newer CUDA on an older module
    machine = start("h100-cuda-compat", NVML + "CUDA Compatibility, forward compatibility")
    cards = h100s(1)
    on_the_bus(machine, cards, module="535.183.01", kind="0302")
    nvidia_nodes(machine, cards)
    machine.variable("LD_LIBRARY_PATH", folder.rstrip("/"))
    machine.library(folder + "libcuda.so.1", LIB + "libcuda.so.1", LIB + "libnvidia-ml.so.1")
    lines = cuda_lines("12.9", folder + "libcuda.so.575.57.08")
    lines.insert(2, ("cuda.compat", "12.9", "535,550,560,565,570,575"))
    machine.say("nvidia", lines + nvml_lines(cards, "535.183.01", "12.9") + cuda_devices(cards))
    expect_cards(machine, cards)
    machine.driver("nvidia", kernel_version="535.183.01", api_version="12.9", usable="present",
                   api_source="libcuda-compat", compat_version="12.9")
    machine.properties["nvidia"] = expect_nvidia("12.9", "9.0")
    yield machine
    # a GeForce refuses it; the driver's own library then counts
    machine = start("rtx4090-cuda-compat", NVML + "code 804", cpu=p.raphael)
    cards = [Card("0000:01:00.0", 0x2684, "NVIDIA GeForce RTX 4090", "8.9", 24)]
    on_the_bus(machine, cards, module="535.183.01")
    nvidia_nodes(machine, cards)
    machine.variable("LD_LIBRARY_PATH", folder.rstrip("/"))
    machine.library(folder + "libcuda.so.1", LIB + "libcuda.so.1", LIB + "libnvidia-ml.so.1")
    lines = cuda_lines("12.9", folder + "libcuda.so.575.57.08")
    lines.insert(2, ("cuda.compat", "12.9", "535,550,560,565,570,575"))
    own = LIB + "libcuda.so.535.183.01"
    machine.say("nvidia", lines + nvml_lines(cards, "535.183.01", "12.2") +
                [("step", "cuInit"), ("cuda.init", 804),
                 ("step", "loading the driver's own libcuda.so.1"), ("cuda.retry", own),
                 *cuda_lines("12.2", own)[1:]] + cuda_devices(cards))
    expect_cards(machine, cards)
    machine.driver("nvidia", kernel_version="535.183.01", api_version="12.2", usable="present")
    machine.problem("nvidia.compat-not-supported")
    machine.properties["nvidia"] = expect_nvidia("12.2", "8.9")
    yield machine


def machines():
    for group in (nvidia_working, nvidia_elsewhere, nvidia_broken, compat):
        yield from group()
