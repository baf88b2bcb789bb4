#pragma once
// The keys of stated facts, once for the reader and the writer of profiles: each type's fields in
// the order in which they are written. A field that is added to a type does not compile here until
// it has its key.
//
// A visitor has one function a kind of value, which takes the key and the field: text, number,
// count (0 unknown), flag, presence, word (an enumerator by its word), part (a struct, or one that
// may be missing), each (an array of structs), and the few that one type alone needs.

#include <array>
#include <cstdint>
#include <limits>
#include <string_view>

#include "detect/gpu_vendors.h"
#include "detect/machine.h"

namespace axle::machines {

/// An enumeration as its words.
template <class Enum, std::size_t count>
struct Words {
  std::array<Enum, count> values;
  std::string_view (*render)(Enum value);
  bool required;  ///< a missing key is an error, else the last of the values
};

inline constexpr Words<detect::Arch, 6> arch_words{
    {detect::Arch::x86_64, detect::Arch::aarch64, detect::Arch::ppc64le, detect::Arch::riscv64,
     detect::Arch::s390x, detect::Arch::other},
    detect::render_arch,
    false};
inline constexpr Words<detect::GpuVendor, detect::gpu_vendors().size()> vendor_words{
    [] {
      std::array<detect::GpuVendor, detect::gpu_vendors().size()> vendors{};
      for (std::size_t i = 0; i < vendors.size(); ++i) vendors[i] = detect::gpu_vendors()[i].vendor;
      return vendors;
    }(),
    detect::render_vendor, true};
inline constexpr Words<detect::NpuKind, 4> npu_words{
    {detect::NpuKind::ascend, detect::NpuKind::tpu, detect::NpuKind::intel_npu,
     detect::NpuKind::qualcomm},
    detect::render_npu_kind,
    true};

inline constexpr std::uint64_t largest_tile_number = 0xFFFF;  ///< 16 bits of CPUID
inline constexpr std::uint64_t longest_vector = 256;          ///< bytes: 2048 bits, Arm's maximum

template <class Type>
struct Fields;

template <>
struct Fields<detect::Cpu> {
  static void visit(auto& visitor, auto& cpu) {
    auto& [arch, machine, vendor, brand, model, logical_cpus, hybrid, capabilities,
           sve_vector_bytes, sme_vector_bytes, hypervisor, amx_permitted, amx_tiles, ace_version,
           sources] = cpu;
    visitor.word("arch", arch, arch_words);
    visitor.text("machine", machine);
    visitor.text("vendor", vendor);
    visitor.text("brand", brand);
    visitor.text("model", model);
    visitor.flag("hybrid", hybrid);
    visitor.count("logical_cpus", logical_cpus);
    visitor.level("level", capabilities);
    visitor.number("sve_vector_bytes", sve_vector_bytes, longest_vector);
    visitor.number("sme_vector_bytes", sme_vector_bytes, longest_vector);
    visitor.text("hypervisor", hypervisor);
    visitor.amx("amx", cpu);
    visitor.flag("amx_permitted", amx_permitted);
    visitor.part("amx_tiles", amx_tiles);
    visitor.number("ace_version", ace_version, 255);
    visitor.capabilities("capabilities", arch, capabilities);
    visitor.sources("sources", sources);
  }
};

template <>
struct Fields<detect::AmxTiles> {
  static void visit(auto& visitor, auto& tiles) {
    auto& [total_bytes, tile_bytes, row_bytes, count, rows, multiply_k, multiply_n] = tiles;
    visitor.count("total_bytes", total_bytes, largest_tile_number);
    visitor.count("tile_bytes", tile_bytes, largest_tile_number);
    visitor.count("row_bytes", row_bytes, largest_tile_number);
    visitor.count("tiles", count, largest_tile_number);
    visitor.count("rows", rows, largest_tile_number);
    visitor.count("multiply_k", multiply_k, largest_tile_number);
    visitor.count("multiply_n", multiply_n, largest_tile_number);
  }
};

template <>
struct Fields<detect::Gpu> {
  static void visit(auto& visitor, auto& gpu) {
    auto& [vendor, name, pci_address, pci_id, kernel_driver, arch, target_id, memory_bytes,
           integrated, mig, masked, usable, reason_code, reason, sources] = gpu;
    visitor.word("vendor", vendor, vendor_words);
    visitor.text("name", name);
    visitor.text("pci_address", pci_address);
    visitor.text("pci_id", pci_id);
    visitor.text("kernel_driver", kernel_driver);
    visitor.text("arch", arch);
    visitor.text("target_id", target_id);
    constexpr std::int64_t most_memory = std::numeric_limits<std::int64_t>::max();
    visitor.number("memory_bytes", memory_bytes, std::uint64_t{most_memory});
    visitor.flag("integrated", integrated);
    visitor.flag("mig", mig);
    visitor.flag("masked", masked);
    visitor.presence("usable", usable);
    visitor.text("reason_code", reason_code);
    visitor.text("reason", reason);
    visitor.sources("sources", sources);
  }
};

/// The vendor is the key of the driver itself.
template <>
struct Fields<detect::Driver> {
  static void visit(auto& visitor, auto& driver) {
    auto& [vendor, kernel_version, library_version, api_version, api_source, compat_version,
           compat_library, usable, reason_code, reason, sources] = driver;
    visitor.text("kernel_version", kernel_version);
    visitor.text("library_version", library_version);
    visitor.text("api_version", api_version);
    visitor.text("api_source", api_source);
    visitor.text("compat_version", compat_version);
    visitor.text("compat_library", compat_library);
    visitor.presence("usable", usable);
    visitor.text("reason_code", reason_code);
    visitor.text("reason", reason);
    visitor.sources("sources", sources);
  }
};

template <>
struct Fields<detect::Npu> {
  static void visit(auto& visitor, auto& npu) {
    auto& [kind, name, pci_address, type, driver_version, toolkit_version, usable, reason_code,
           reason, sources] = npu;
    visitor.word("kind", kind, npu_words);
    visitor.text("name", name);
    visitor.text("pci_address", pci_address);
    visitor.text("type", type);
    visitor.text("driver_version", driver_version);
    visitor.text("toolkit_version", toolkit_version);
    visitor.presence("usable", usable);
    visitor.text("reason_code", reason_code);
    visitor.text("reason", reason);
    visitor.sources("sources", sources);
  }
};

template <>
struct Fields<detect::Mps> {
  static void visit(auto& visitor, auto& mps) {
    auto& [usable, reason_code, reason, sources] = mps;
    visitor.presence("usable", usable);
    visitor.text("reason_code", reason_code);
    visitor.text("reason", reason);
    visitor.sources("sources", sources);
  }
};

template <>
struct Fields<detect::Os> {
  static void visit(auto& visitor, auto& os) {
    auto& [system, kernel, name, container, wsl, tegra_release, sources] = os;
    visitor.text("system", system);
    visitor.text("kernel", kernel);
    visitor.text("name", name);
    visitor.text("container", container);
    visitor.flag("wsl", wsl);
    visitor.text("tegra_release", tegra_release);
    visitor.sources("sources", sources);
  }
};

template <>
struct Fields<detect::Libc> {
  static void visit(auto& visitor, auto& libc) {
    auto& [family, major, minor, sources] = libc;
    visitor.text("family", family);
    visitor.version("version", major, minor);
    visitor.sources("sources", sources);
  }
};

template <>
struct Fields<detect::Problem> {
  static void visit(auto& visitor, auto& problem) {
    auto& [code, message, hint] = problem;
    visitor.text("code", code);
    visitor.text("message", message);
    visitor.text("hint", hint);
  }
};

template <>
struct Fields<detect::Machine> {
  static void visit(auto& visitor, auto& machine) {
    auto& [os, libc, cpu, gpus, npus, drivers, mps, problems] = machine;
    visitor.part("cpu", cpu);
    visitor.each("gpus", gpus);
    visitor.each("npus", npus);
    visitor.drivers("drivers", drivers);
    visitor.part("mps", mps);
    visitor.part("os", os);
    visitor.part("libc", libc);
    visitor.each("problems", problems);
  }
};

}  // namespace axle::machines
