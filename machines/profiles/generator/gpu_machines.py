"""Machines that are told by their GPUs and other accelerators, working and broken.

Verdicts: NVIDIA CUDA driver API and NVML references, CUDA Compatibility; Linux amdgpu and KFD sysfs;
Level Zero specification. The reason codes are those of docs/detection.md.
"""

import processors as p
from recordings import (AL2023, DEBIAN, GIB, LIB, UBUNTU22, UBUNTU24, Machine, expect_nvidia)

NVML = "NVIDIA NVML and CUDA driver API references; "
RENDER = "/dev/dri/renderD"


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


class AmdCard:
    def __init__(self, address, device, name, gfx_version, gfx, gib, integrated=False):
        self.address, self.device, self.name = address, device, name
        self.gfx_version, self.gfx, self.gib = gfx_version, gfx, gib
        self.integrated = integrated


def amd(ident, sources, cards, rocm=None, cpu=p.zen4, kfd="rw", render="rw", **arguments):
    machine = start(ident, "Linux amdgpu and KFD sysfs documentation; " + sources, cpu=cpu, **arguments)
    topology = "/sys/class/kfd/kfd/topology/nodes/"
    machine.files[topology + "0/properties"] = "cpu_cores_count 16\nsimd_count 0\nvendor_id 0\n"
    machine.files[topology + "0/gpu_id"] = "0\n"
    for number, card in enumerate(cards):
        folder = machine.pci(card.address, 0x1002, card.device, "amdgpu",
                             "1200" if card.gib > 100 and not card.integrated else "0300")
        bus, rest = card.address.split(":")[1:]
        slot, function = rest.split(".")
        location = int(bus, 16) << 8 | int(slot, 16) << 3 | int(function)
        minor = 128 + number
        machine.files[f"{topology}{number + 1}/properties"] = (
            f"cpu_cores_count 0\nsimd_count 304\nvendor_id 4098\ndevice_id {card.device}\n"
            f"location_id {location}\ndomain 0\ndrm_render_minor {minor}\n"
            f"gfx_target_version {card.gfx_version}\n")
        machine.files[f"{topology}{number + 1}/gpu_id"] = f"{20000 + number}\n"
        machine.files[folder + "/mem_info_vram_total"] = f"{int(card.gib * GIB)}\n"
        if not card.integrated:
            machine.files[folder + "/mem_info_vram_vendor"] = "samsung\n"
            machine.files[folder + "/product_name"] = card.name + "\n"
        machine.nodes(f"{RENDER}{minor}", access=render)
    machine.nodes("/dev/kfd", access=kfd)
    if rocm:
        machine.files["/opt/rocm/.info/version"] = rocm + "-47\n"
    return machine


def expect_amd(machine, cards, rocm=None):
    for card in cards:
        facts = {} if card.integrated else {"name": card.name}
        machine.gpu("amd", pci_address=card.address, arch=card.gfx, usable="present",
                    integrated=card.integrated, **facts)
    machine.driver("amd", usable="present", **({"api_version": rocm} if rocm else {}))
    # The graphics of the processor do not count beside a card.
    best = [card for card in cards if not card.integrated] or cards
    machine.properties["amd"] = {"gfx_arch": list(dict.fromkeys(card.gfx for card in best))}
    if rocm:
        machine.properties["amd"]["rocm_version"] = [rocm]


def amd_machines():
    cards = [AmdCard(f"0000:{0x05 + 0x20 * number:02x}:00.0", 0x74A1, "AMD Instinct MI300X", 90402, "gfx942",
                     192) for number in range(8)]
    machine = amd("mi300x8-rocm64", "ROCm 6.4 release notes", cards, "6.4.0")
    expect_amd(machine, cards, "6.4")
    yield machine
    cards = [AmdCard("0000:75:00.0", 0x75A3, "AMD Instinct MI355X", 90500, "gfx950", 288)]
    machine = amd("mi355x-rocm70", "ROCm 7.0 release notes", cards, "7.0.0", cpu=p.zen5)
    expect_amd(machine, cards, "7.0")
    yield machine
    # the graphics of the processor beside the card
    cards = [AmdCard("0000:03:00.0", 0x744C, "AMD Radeon RX 7900 XTX", 110000, "gfx1100", 24),
             AmdCard("0000:0f:00.0", 0x164E, "", 100306, "gfx1036", 0.5, integrated=True)]
    machine = amd("rx7900xtx-raphael", "ROCm system requirements", cards, "6.4.0", cpu=p.raphael)
    expect_amd(machine, cards, "6.4")
    yield machine
    # one chip for both
    cards = [AmdCard("0000:c5:00.0", 0x1586, "", 110501, "gfx1151", 96, integrated=True)]
    machine = amd("strix-halo", "ROCm 7.2 release notes", cards, "7.2.0", cpu=p.strix_halo)
    expect_amd(machine, cards, "7.2")
    yield machine
    # no ROCm on the system: wheels bring it
    cards = [AmdCard("0000:03:00.0", 0x7550, "AMD Radeon RX 9070 XT", 120001, "gfx1201", 16)]
    machine = amd("rx9070xt-no-rocm", "amdgpu in Linux 6.12", cards, cpu=p.zen5, kernel="6.12.0")
    expect_amd(machine, cards)
    yield machine
    # the user is not in the group render
    cards = [AmdCard("0000:27:00.0", 0x740F, "AMD Instinct MI210", 90010, "gfx90a", 64)]
    machine = amd("mi210-no-render-group", "ROCm installation, groups", cards, "6.4.0", cpu=p.zen3,
                  kfd="none", render="none")
    machine.gpu("amd", pci_address="0000:27:00.0", arch="gfx90a", usable="blocked",
                reason_code="no-permission")
    machine.driver("amd", usable="blocked", reason_code="no-permission")
    machine.problem("amd.no-permission")
    yield machine
    # a container without the device nodes
    machine = amd("mi210-docker-without-kfd", "ROCm in Docker", cards, "6.4.0", cpu=p.zen3)
    machine.container("docker")
    del machine.recording["nodes"]["/dev/kfd"], machine.recording["nodes"][RENDER + "128"]
    machine.gpu("amd", pci_address="0000:27:00.0", arch="gfx90a", usable="blocked",
                reason_code="no-device-nodes")
    machine.driver("amd", usable="blocked", reason_code="no-device-nodes")
    machine.problem("amd.no-device-nodes")
    yield machine


def ip(version):
    architecture, release, revision = (int(part) for part in version.split("."))
    return architecture << 22 | release << 14 | revision


def intel(machine, address, device, driver, minor=128, kind="0300"):
    folder = machine.pci(address, 0x8086, device, driver, kind)
    machine.part("folders")[folder + "/drm"] = ["card0", f"renderD{minor}"]
    machine.nodes(f"{RENDER}{minor}")


def level_zero(machine, devices):
    machine.library(LIB + "libze_loader.so.1", LIB + "libze_intel_gpu.so.1")
    lines = [("step", "loading libze_loader.so.1"), ("step", "zeInitDrivers"), ("ze.init", 0),
             ("ze.api", 1 << 16 | 6), ("ze.driver", 0x0106832A), ("step", "zeDeviceGet")]
    for number, (device, version, address, gib, integrated, name) in enumerate(devices):
        lines.append(("ze.device", number, 0x8086, device, ip(version), address, gib * GIB,
                      1 if integrated else 0, name))
        machine.gpu("intel", pci_address=address, arch=version, name=name, usable="present",
                    integrated=integrated)
    machine.say("intel", lines + [("ze.count", len(devices))])
    machine.driver("intel", api_version="1.6", library_version="1.6.33578", usable="present")


def intel_machines():
    spec = "Level Zero specification; intel/compute-runtime devices_base.inl; "
    machine = start("pvc-i915", spec + "Data Center GPU Max documentation")
    intel(machine, "0000:29:00.0", 0x0BD5, "i915", kind="0380")
    level_zero(machine, [(0x0BD5, "12.60.7", "0000:29:00.0", 128, False, "Intel(R) Data Center GPU Max "
                          "1550")])
    machine.properties["intel"] = {"device_ip": ["12.60.7"]}
    yield machine
    # a base platform's code runs too
    machine = start("lunar-lake-xe", spec + "Core Ultra 200V", cpu=p.lunar_lake.but(minus="hybrid"))
    intel(machine, "0000:00:02.0", 0x64A0, "xe")
    level_zero(machine, [(0x64A0, "20.4.4", "0000:00:02.0", 16, True, "Intel(R) Arc(TM) Graphics")])
    machine.properties["intel"] = {"device_ip": ["20.4.4", "20.1.0"]}
    yield machine
    # the kernel driver alone: the table of ids says what it is, and nobody confirms that it works
    machine = start("b580-no-level-zero", spec + "Arc B580 specifications", cpu=p.zen4)
    intel(machine, "0000:03:00.0", 0xE20B, "xe")
    machine.gpu("intel", pci_address="0000:03:00.0", arch="20.1.0", usable="present",
                reason_code="unconfirmed")
    machine.driver("intel", usable="present", reason_code="unconfirmed")
    machine.problem("intel.unconfirmed")
    machine.properties["intel"] = {"device_ip": ["20.1.0"]}
    yield machine
    # graphics of before Xe-HPG: nothing to complain about
    machine = start("uhd770", spec + "12th generation Core", cpu=p.alder_lake.but(minus="hybrid"))
    intel(machine, "0000:00:02.0", 0x4680, "i915")
    machine.gpu("intel", pci_address="0000:00:02.0", usable="absent",
                reason_code="integrated-unsupported", integrated=True)
    machine.driver("intel", usable="absent", reason_code="integrated-unsupported")
    yield machine
    # two vendors
    machine = start("arc-a770-rtx3060", spec + NVML + "GeForce RTX 3060", cpu=p.zen3)
    intel(machine, "0000:03:00.0", 0x56A0, "i915")
    level_zero(machine, [(0x56A0, "12.55.8", "0000:03:00.0", 16, False, "Intel(R) Arc(TM) A770 Graphics")])
    working_nvidia(machine, [Card("0000:0a:00.0", 0x2503, "NVIDIA GeForce RTX 3060", "8.6", 12)],
                   "570.86.16", "12.8")
    machine.properties["intel"] = {"device_ip": ["12.55.8"]}
    yield machine


NPU_SMI = """\
+------------------------------------------------------------------------------------------------+
| npu-smi 24.1.rc3                 Version: 24.1.rc3                                             |
+---------------------------+---------------+----------------------------------------------------+
| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|
| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |
+===========================+===============+====================================================+
| 0     910B3               | OK            | 93.6        39                0    / 0             |
| 0                         | 0000:C1:00.0  | 0           0    / 0          3394 / 65536         |
+===========================+===============+====================================================+
"""


def accelerators():
    # what npu-smi says, under the CPU of the same vendor
    machine = Machine("ascend-910b", "Huawei Ascend documentation, npu-smi info; CANN 8.0 documentation",
                      cpus=192, arch="aarch64", kernel="5.10.0-216.0.0.115.oe2203sp4.aarch64",
                      glibc="2.34")
    machine.arm(p.kunpeng_920)
    machine.pci("0000:c1:00.0", 0x19E5, 0xD802, "devdrv_device_driver", "1200")
    machine.nodes("/dev/davinci0", "/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc")
    machine.library("/usr/local/bin/npu-smi")
    machine.part("programs")["/usr/local/bin/npu-smi info"] = NPU_SMI
    toolkit = "/usr/local/Ascend/ascend-toolkit/latest"
    machine.variable("ASCEND_TOOLKIT_HOME", toolkit)
    machine.files[toolkit + "/aarch64-linux/ascend_toolkit_install.info"] = (
        "package_name=Ascend-cann-toolkit\nversion=8.0.0\n")
    machine.expected["npus"].append({"kind": "ascend", "name": "910B3", "type": "910b", "usable": "present",
                                     "pci_address": "0000:c1:00.0", "driver_version": "24.1.rc3",
                                     "toolkit_version": "8.0.0"})
    machine.properties["ascend"] = {"npu_type": ["910b"], "driver_version": ["24.1.rc3"],
                                    "cann_version": ["8.0.0"]}
    yield machine
    # Google hands TPUs out through VFIO
    machine = start("tpu-v5e", "jax hardware_utils.py; Google Cloud TPU v5e documentation", cpu=p.zen3)
    folder = machine.pci("0000:00:05.0", 0x1AE0, 0x0063, "vfio-pci", "1200")
    machine.part("links")[folder + "/iommu_group"] = "../../../kernel/iommu_groups/0"
    machine.nodes("/dev/vfio/0", "/dev/vfio/vfio")
    machine.expected["npus"].append({"kind": "tpu", "type": "v5e", "usable": "present",
                                     "pci_address": "0000:00:05.0"})
    machine.properties["tpu"] = {"present": ["true"]}
    yield machine
    # an NPU beside the graphics of the processor; no properties are defined for it
    machine = start("intel-npu", "Linux drivers/accel/ivpu; Core Ultra 200V", kernel="6.12.0",
                    cpu=p.lunar_lake.but(minus="hybrid"))
    folder = machine.pci("0000:00:0b.0", 0x8086, 0x643E, "intel_vpu", "1200")
    machine.part("folders")[folder + "/accel"] = ["accel0"]
    machine.nodes("/dev/accel/accel0")
    machine.expected["npus"].append({"kind": "intel_npu", "name": "NPU (Lunar Lake)", "usable": "present",
                                     "pci_address": "0000:00:0b.0"})
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


def machines():
    # a display adapter of a virtual machine is no GPU
    machine = start("cloud-vm-no-gpu", "virtio 1.2 specification; cloud virtual machines", cpu=p.zen3,
                    kernel="6.1.0-18-cloud-amd64", glibc="2.36", os=DEBIAN, cpus=4)
    machine.pci("0000:00:01.0", 0x1AF4, 0x1050, "virtio-pci")
    yield machine
    for group in (nvidia_working, nvidia_elsewhere, nvidia_broken, compat, amd_machines, intel_machines,
                  accelerators):
        yield from group()
