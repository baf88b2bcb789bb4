#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machines/profile.h"
#include "machines/profile_object.h"
#include "machines/profile_recording.h"
#include "machines/profile_schema.h"

namespace axle::machines {

using Json = nlohmann::json;

namespace {

unsigned small(const std::optional<std::uint64_t>& value) {
  return value ? static_cast<unsigned>(*value) : 0;
}

constexpr std::uint64_t largest_tile_number = 0xFFFF;  // 16 bits of CPUID
constexpr std::uint64_t largest_count = std::numeric_limits<unsigned>::max();

detect::Arch read_arch(Object& object) {
  const std::string word = object.text("arch");
  if (word.empty()) return detect::Arch::other;
  using enum detect::Arch;
  for (const auto arch : {x86_64, aarch64, ppc64le, riscv64, s390x, other}) {
    if (word == detect::render_arch(arch)) return arch;
  }
  object.reading().refuse(object.path_of("arch"),
                          "expected x86_64, aarch64, ppc64le, riscv64, s390x or other");
  return detect::Arch::other;
}

std::optional<detect::GpuVendor> find_vendor(std::string_view word) {
  for (const auto vendor :
       {detect::GpuVendor::nvidia, detect::GpuVendor::amd, detect::GpuVendor::intel}) {
    if (word == detect::render_vendor(vendor)) return vendor;
  }
  return std::nullopt;
}

void read_capabilities(Object& object, detect::CapabilityFacts& facts) {
  object.keys([&](const std::string& name) {
    // finish() refuses those that are none.
    const auto capability = detect::find_capability(name);
    if (capability) facts.set(*capability, object.presence(name));
  });
}

void read_sources(Object& object, detect::Sources& sources) {
  object.part("sources", [&](Object& part) {
    part.keys([&](const std::string& fact) { sources[fact] = part.text(fact); });
  });
}

void read_cpu(Object& object, detect::Cpu& cpu) {
  cpu.arch = read_arch(object);
  cpu.machine = object.text("machine");
  cpu.vendor = object.text("vendor");
  cpu.brand = object.text("brand");
  cpu.model = object.text("model");
  cpu.hybrid = object.flag("hybrid");
  cpu.logical_cpus = small(object.number("logical_cpus", largest_count));
  if (const auto bytes = object.number("sve_vector_bytes", 256)) {
    cpu.sve_vector_bytes = static_cast<unsigned>(*bytes);
  }
  if (const auto bytes = object.number("sme_vector_bytes", 256)) {
    cpu.sme_vector_bytes = static_cast<unsigned>(*bytes);
  }
  cpu.hypervisor = object.text("hypervisor");
  const bool permission_told = object.has("amx_permitted");
  if (const bool permitted = object.flag("amx_permitted"); permission_told) {
    cpu.amx_permitted = permitted;
  }
  if (object.has("amx_tiles")) {
    object.part("amx_tiles", [&](Object& part) {
      auto& tiles = cpu.amx_tiles.emplace();
      for (const auto& [key, member] : amx_tile_members) {
        tiles.*member = small(part.number(key, largest_tile_number));
      }
    });
  }
  if (const auto version = object.number("ace_version", 255)) {
    cpu.ace_version = static_cast<unsigned>(*version);
  }
  read_sources(object, cpu.sources);
  object.part("capabilities", [&](Object& part) { read_capabilities(part, cpu.capabilities); });
}

detect::Gpu read_gpu(Object& object) {
  detect::Gpu gpu;
  if (const auto vendor = find_vendor(object.text("vendor"))) {
    gpu.vendor = *vendor;
  } else {
    object.reading().refuse(object.path_of("vendor"), "expected nvidia, amd or intel");
  }
  gpu.name = object.text("name");
  gpu.pci_address = object.text("pci_address");
  gpu.pci_id = object.text("pci_id");
  gpu.kernel_driver = object.text("kernel_driver");
  gpu.arch = object.text("arch");
  gpu.memory_bytes =
      object.number("memory_bytes", std::uint64_t(std::numeric_limits<std::int64_t>::max()));
  gpu.integrated = object.flag("integrated");
  gpu.mig = object.flag("mig");
  gpu.masked = object.flag("masked");
  gpu.usable = object.presence("usable");
  gpu.reason_code = object.text("reason_code");
  gpu.reason = object.text("reason");
  read_sources(object, gpu.sources);
  return gpu;
}

detect::Driver read_driver(Object& object, detect::GpuVendor vendor) {
  detect::Driver driver;
  driver.vendor = vendor;
  driver.kernel_version = object.text("kernel_version");
  driver.library_version = object.text("library_version");
  driver.api_version = object.text("api_version");
  driver.api_source = object.text("api_source");
  driver.compat_version = object.text("compat_version");
  driver.compat_library = object.text("compat_library");
  driver.usable = object.presence("usable");
  driver.reason_code = object.text("reason_code");
  driver.reason = object.text("reason");
  read_sources(object, driver.sources);
  return driver;
}

void read_drivers(Object& object, std::vector<detect::Driver>& drivers) {
  for (const auto vendor :
       {detect::GpuVendor::nvidia, detect::GpuVendor::amd, detect::GpuVendor::intel}) {
    object.part(std::string(detect::render_vendor(vendor)),
                [&](Object& part) { drivers.push_back(read_driver(part, vendor)); });
  }
}

detect::Npu read_npu(Object& object) {
  detect::Npu npu;
  using enum detect::NpuKind;
  const std::string word = object.text("kind");
  bool known = false;
  for (const auto kind : {ascend, tpu, intel_npu, qualcomm}) {
    if (word != detect::render_npu_kind(kind)) continue;
    npu.kind = kind;
    known = true;
  }
  if (!known) {
    object.reading().refuse(object.path_of("kind"), "expected ascend, tpu, intel_npu or qualcomm");
  }
  npu.name = object.text("name");
  npu.pci_address = object.text("pci_address");
  npu.type = object.text("type");
  npu.driver_version = object.text("driver_version");
  npu.toolkit_version = object.text("toolkit_version");
  npu.usable = object.presence("usable");
  npu.reason_code = object.text("reason_code");
  npu.reason = object.text("reason");
  read_sources(object, npu.sources);
  return npu;
}

void read_os(Object& object, detect::Os& os) {
  os.system = object.text("system");
  os.kernel = object.text("kernel");
  os.name = object.text("name");
  os.container = object.text("container");
  os.wsl = object.flag("wsl");
  os.tegra_release = object.text("tegra_release");
  read_sources(object, os.sources);
}

void read_libc(Object& object, detect::Libc& libc) {
  read_sources(object, libc.sources);
  libc.family = object.text("family");
  const std::string version = object.text("version");
  if (version.empty()) return;
  const char* const end = version.data() + version.size();
  const auto major = std::from_chars(version.data(), end, libc.major);
  const bool dot = major.ec == std::errc() && major.ptr != end && *major.ptr == '.';
  const auto minor = dot ? std::from_chars(major.ptr + 1, end, libc.minor) : major;
  if (!dot || minor.ec != std::errc() || minor.ptr != end) {
    object.reading().refuse(object.path_of("version"), "expected a version such as 2.36");
  }
}

bool is_date(std::string_view text) {
  constexpr std::string_view shape = "0000-00-00";
  if (text.size() != shape.size()) return false;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    if (shape[i] == '-' ? text[i] != '-' : !digit) return false;
  }
  return true;
}

void read_facts(Object& object, detect::Machine& machine) {
  object.part("cpu", [&](Object& part) { read_cpu(part, machine.cpu); });
  object.each("gpus", [&](Object& part) { machine.gpus.push_back(read_gpu(part)); });
  object.part("drivers", [&](Object& part) { read_drivers(part, machine.drivers); });
  object.each("npus", [&](Object& part) { machine.npus.push_back(read_npu(part)); });
  object.part("os", [&](Object& part) { read_os(part, machine.os); });
  object.part("libc", [&](Object& part) { read_libc(part, machine.libc); });
  object.each("problems", [&](Object& part) {
    machine.problems.push_back({part.text("code"), part.text("message"), part.text("hint")});
  });
}

Profile read_profile(Object& object, std::uint64_t schema) {
  Profile profile;
  const bool checked = schema >= 2;
  if (checked && !object.has("origin")) {
    object.reading().refuse("origin", "expected where the profile is from");
  }
  object.part("origin", [&](Object& part) {
    profile.origin = {part.text("kind"), part.text("source"), part.text("date")};
    const auto [key, wanted] = explain_origin(profile.origin);
    if (checked && key != nullptr) part.reading().refuse(part.path_of(key), wanted);
  });
  if (checked && object.has("recording")) {
    object.part("recording",
                [&](Object& part) { read_recording(part, profile.recording.emplace()); });
  } else {
    read_facts(object, profile.machine);
  }
  return profile;
}

std::uint64_t check_schema(Object& object) {
  constexpr std::uint64_t largest = 1'000'000;
  const auto version = object.number("schema_version", largest);
  if (!version || *version == 0) {
    object.reading().refuse("", "is no machine profile: schema_version is missing");
  } else if (*version > profile_schema_version) {
    object.reading().refuse(
        Error{ErrorKind::unsupported,
              fmt::format("{}: profile schema {} is newer than this program knows ({})",
                          object.reading().where(), *version, profile_schema_version),
              "read it with the version of Axle that wrote it"});
  }
  return version.value_or(0);
}

/// Refuses what the parser would swallow: a key given twice, and nesting without end.
class Watch {
 public:
  explicit Watch(Reading& reading) : reading_(reading) {}

  bool operator()(int depth, Json::parse_event_t event, Json& value) {
    using Event = Json::parse_event_t;
    if (depth > deepest_nesting) reading_.refuse("", "is nested too deeply");
    if (event == Event::object_start) keys_.emplace_back();
    if (event == Event::object_end && !keys_.empty()) keys_.pop_back();
    if (event == Event::key && !keys_.empty() &&
        !keys_.back().insert(value.get<std::string>()).second) {
      reading_.refuse("", fmt::format("the key \"{}\" stands twice in one object",
                                      value.get<std::string>().substr(0, 64)));
    }
    return !reading_.error();
  }

 private:
  Reading& reading_;
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

std::pair<const char*, const char*> explain_origin(const ProfileOrigin& origin) {
  if (origin.kind != "captured" && origin.kind != "synthesised") {
    return {"kind", "expected captured or synthesised"};
  }
  if (origin.source.empty()) {
    return {"source", "expected the program or the documents that the profile is from"};
  }
  if (!origin.date.empty() && !is_date(origin.date)) {
    return {"date", "expected a date such as 2026-11-21"};
  }
  return {};
}

Result<Profile> parse_profile(std::string_view json, std::string_view where) {
  Reading reading(where);
  if (json.size() > largest_profile) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: larger than a machine profile can be", where));
  }
  Json root;
  try {
    Watch watch(reading);
    root = Json::parse(json, [&](int depth, Json::parse_event_t event, Json& value) {
      return watch(depth, event, value);
    });
  } catch (const Json::exception& exception) {
    reading.refuse("", fmt::format("is not JSON: {}", exception.what()));
  }
  if (reading.error()) return std::unexpected(*reading.error());
  Object object(root, "", reading);
  Profile profile = read_profile(object, check_schema(object));
  object.finish();
  if (reading.error()) return std::unexpected(*reading.error());
  return profile;
}

}  // namespace axle::machines
