#pragma once
// The facts of one machine: what `probe_machine` finds, what machines/ records and replays, and
// what providers/ turns into supported properties. Values only; nothing here accesses the system.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "detect/capability.h"

namespace axle::detect {

/// The state of one fact. `blocked`: the hardware has it, but the kernel, a hypervisor, a container
/// or a broken driver withholds it. `unknown`: not stated (a profile) or not readable (a denied
/// system call). Never counts as present.
enum class Presence : std::uint8_t { unknown, absent, blocked, present };

/// One Presence for every row of the capability table. Probing fills the rows of the CPU's own
/// architecture; the others are not used and remain unknown.
class CapabilityFacts {
 public:
  [[nodiscard]] Presence of(Capability capability) const {
    return presence_[static_cast<std::size_t>(capability)];
  }
  [[nodiscard]] bool has(Capability capability) const {
    return of(capability) == Presence::present;
  }
  void set(Capability capability, Presence presence) {
    presence_[static_cast<std::size_t>(capability)] = presence;
  }
  friend bool operator==(const CapabilityFacts&, const CapabilityFacts&) = default;

 private:
  Presence presence_[capability_count] = {};
};

/// The source of each fact: the member's name -> "cpuid", "auxv", "sysfs", "nvml", "libcuda",
/// "driver-table", "stated", …; for an unknown one, the reason ("no-mark", "midr-unreadable"). A
/// fact without an entry was not queried.
using Sources = std::map<std::string, std::string, std::less<>>;

/// The source of a fact that nobody stated and that stands for what most machines have
/// (machines/completion.h): nothing may be refused because of it.
inline constexpr std::string_view assumed = "assumed";

/// The tiles of AMX and how much one multiplication uses of them (Intel SDM vol. 2A, CPUID leaves
/// 0x1D and 0x1E).
struct AmxTiles {
  unsigned total_bytes = 0;
  unsigned tile_bytes = 0;
  unsigned row_bytes = 0;
  unsigned tiles = 0;
  unsigned rows = 0;        ///< of a tile
  unsigned multiply_k = 0;  ///< rows or columns of the inner dimension
  unsigned multiply_n = 0;  ///< bytes of a column
  friend bool operator==(const AmxTiles&, const AmxTiles&) = default;
};

struct Cpu {
  Arch arch = Arch::other;
  std::string machine;  ///< uname -m, for display and platform tags
  std::string vendor;  ///< "GenuineIntel", "AuthenticAMD", ARM implementer "0x41"; for display only
  std::string brand;   ///< brand string; for display only
  /// x86: family, model and stepping in decimal, "6-143-8"; ARM: the part number "0xd40"; RISC-V:
  /// marchid. For display only.
  std::string model = {};
  unsigned logical_cpus = 0;  ///< online logical CPUs; 0 unknown
  bool hybrid = false;        ///< x86 with several kinds of cores; `capabilities` are common to all
  CapabilityFacts capabilities;
  std::optional<unsigned> sve_vector_bytes;  ///< aarch64 SVE vector length in bytes
  std::optional<unsigned> sme_vector_bytes;  ///< aarch64 SME streaming vector length in bytes
  std::string hypervisor;  ///< "KVMKVMKVM" (CPUID 0x40000000); empty on bare metal or unknown
  /// Whether this process may already use AMX tiles; never requested by detection. nullopt if the
  /// kernel has no such permission or does not report it.
  std::optional<bool> amx_permitted = {};
  std::optional<AmxTiles> amx_tiles = {};    ///< as the CPU reports them, usable or not
  std::optional<unsigned> ace_version = {};  ///< x86 AI Compute Extensions, CPUID leaf 0x1D
  /// Also, by its name, the evidence for each capability that is blocked or unknown: "xcr0" (the
  /// kernel does not enable its registers), "arch_prctl" (or does not grant them),
  /// "arch_prctl-refused", "other-cores" (some cores lack it), … (docs/detection.md lists them
  /// all).
  Sources sources = {};
  friend bool operator==(const Cpu&, const Cpu&) = default;
};

struct Os {
  std::string system;  ///< "Linux"
  std::string kernel;  ///< uname -r
  std::string name;    ///< os-release PRETTY_NAME
  std::string container =
      {};            ///< "docker", "podman", "kubernetes", "lxc", …; empty if there is none
  bool wsl = false;  ///< Windows Subsystem for Linux
  std::string tegra_release =
      {};  ///< Jetson Linux (L4T) "36.4.3"; empty elsewhere: Tegra is not SBSA
  Sources sources = {};
  friend bool operator==(const Os&, const Os&) = default;
};

struct Libc {
  std::string family;  ///< "glibc", "musl", or empty if unknown
  unsigned major = 0;
  unsigned minor = 0;
  Sources sources = {};
  friend bool operator==(const Libc&, const Libc&) = default;
};

enum class GpuVendor : std::uint8_t { nvidia, amd, intel };

/// One GPU, whether its driver works or not. `usable` is decisive; facts that only a library
/// reports are empty if only the bus was read.
struct Gpu {
  GpuVendor vendor = GpuVendor::nvidia;
  std::string name;         ///< marketing name from the driver or the id table, may be empty
  std::string pci_address;  ///< "0000:65:00.0"; empty without PCI (Jetson, WSL, inline facts)
  std::string pci_id;       ///< "10de:2330"; empty if unknown
  std::string
      kernel_driver;  ///< bound to it: "nvidia", "nouveau", "vfio-pci", "amdgpu", "i915", "xe"
  std::string arch;  ///< nvidia: compute capability "9.0"; amd: "gfx942"; intel: device IP "20.1.4"
  /// amd: `arch` with the features that the kernel reports, "gfx90a:sramecc+"; for display only.
  /// Empty if nothing more is known.
  std::string target_id = {};
  std::optional<std::uint64_t> memory_bytes;
  bool integrated = false;
  bool mig = false;     ///< nvidia: partitioned into MIG instances
  bool masked = false;  ///< hidden from programs by CUDA_VISIBLE_DEVICES and similar
  Presence usable = Presence::unknown;
  std::string reason_code;  ///< why not usable: "no-device-nodes", "no-user-driver", …
  std::string reason;       ///< the same as a sentence
  Sources sources = {};
  friend bool operator==(const Gpu&, const Gpu&) = default;
};

/// The driver stack of one vendor. Vendors without a driver have no entry.
struct Driver {
  GpuVendor vendor = GpuVendor::nvidia;
  std::string kernel_version;   ///< nvidia "570.124.06", amdgpu DKMS version, i915/xe
  std::string library_version;  ///< user-mode driver, if it differs or is known without loading
  std::string api_version;  ///< nvidia: highest CUDA "12.8"; amd: ROCm "6.4"; intel: Level Zero API
  std::string api_source;   ///< "nvml", "libcuda", "driver-table", "rocm-info", …
  /// nvidia: the forward-compatibility libcuda on the loader's path, its CUDA version "12.9" from
  /// the ELF note and its file; empty if there is none.
  std::string compat_version;
  std::string compat_library;
  Presence usable = Presence::unknown;
  std::string reason_code;
  std::string reason;
  Sources sources = {};
  friend bool operator==(const Driver&, const Driver&) = default;
};

/// Accelerators that are not GPUs.
enum class NpuKind : std::uint8_t { ascend, tpu, intel_npu, qualcomm };

/// One accelerator that is not a GPU.
struct Npu {
  NpuKind kind = NpuKind::ascend;
  std::string name;             ///< from the vendor's tool or the id table, may be empty
  std::string pci_address;      ///< as Gpu::pci_address
  std::string type;             ///< ascend: "910b", "310p", "a3"; tpu: "v5e"; empty if unknown
  std::string driver_version;   ///< "24.1.rc3"; empty if unknown
  std::string toolkit_version;  ///< ascend: CANN "8.0.0"; empty if unknown
  Presence usable = Presence::unknown;
  std::string reason_code;
  std::string reason;
  Sources sources = {};
  friend bool operator==(const Npu&, const Npu&) = default;
};

/// MPS: Metal's library for computing, through which programs use the GPU of a Mac.
struct Mps {
  Presence usable = Presence::unknown;
  std::string reason_code;
  std::string reason;
  Sources sources = {};
  friend bool operator==(const Mps&, const Mps&) = default;
};

/// A problem that the user can fix.
struct Problem {
  std::string code;     ///< stable word, e.g. "nvidia.no-device-nodes"
  std::string message;  ///< what is wrong
  std::string hint;     ///< what to do
  friend bool operator==(const Problem&, const Problem&) = default;
};

struct Machine {
  Os os;
  Libc libc;
  Cpu cpu;
  std::vector<Gpu> gpus;  ///< in bus order
  std::vector<Npu> npus;  ///< in bus order
  std::vector<Driver> drivers;
  std::optional<Mps> mps = {};  ///< of a Mac; nullopt on every other system
  std::vector<Problem> problems;
  friend bool operator==(const Machine&, const Machine&) = default;
};

/// The highest psABI level whose capabilities, and those of all lower levels, are present; 0 if not
/// even the first is known.
[[nodiscard]] unsigned highest_x86_64_level(const CapabilityFacts& facts);

/// The driver entry of `vendor`, or nullptr.
[[nodiscard]] const Driver* find_driver(const Machine& machine, GpuVendor vendor);

/// "nvidia", "amd", "intel": the word used in profiles, JSON and namespaces.
[[nodiscard]] std::string_view render_vendor(GpuVendor vendor);
[[nodiscard]] std::string_view render_presence(Presence presence);  ///< "present", "absent", …
[[nodiscard]] std::string_view render_arch(Arch arch);         ///< "x86_64", "aarch64", …, "other"
[[nodiscard]] std::string_view render_npu_kind(NpuKind kind);  ///< "ascend", "tpu", …

}  // namespace axle::detect
