"""Machines that are told by their GPUs and other accelerators; NVIDIA's are in nvidia_machines.py.

Verdicts: Linux amdgpu and KFD sysfs; Level Zero specification. The reason codes are those of
docs/detection.md.
"""

import nvidia_machines
import processors as p
from nvidia_machines import NVML, Card, start, working_nvidia
from recordings import DEBIAN, GIB, LIB, OPENEULER, Machine

RENDER = "/dev/dri/renderD"


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


def npu_machines():
    # what npu-smi says, under the CPU of the same vendor
    machine = Machine("ascend-910b", "Huawei Ascend documentation, npu-smi info; CANN 8.0 documentation",
                      cpus=192, arch="aarch64", kernel="5.10.0-216.0.0.115.oe2203sp4.aarch64",
                      glibc="2.34", os=OPENEULER)
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
    folder = machine.pci("0000:00:05.0", 0x1AE0, 0x0063, "vfio-pci", "ff00")
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


def machines():
    # a display adapter of a virtual machine is no GPU
    machine = start("cloud-vm-no-gpu", "virtio 1.2 specification; cloud virtual machines", cpu=p.zen3,
                    kernel="6.1.0-18-cloud-amd64", glibc="2.36", os=DEBIAN, cpus=4)
    machine.pci("0000:00:01.0", 0x1AF4, 0x1050, "virtio-pci")
    yield machine
    yield from nvidia_machines.machines()
    for group in (amd_machines, intel_machines, npu_machines):
        yield from group()
