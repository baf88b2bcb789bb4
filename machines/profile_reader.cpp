#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "machines/profile.h"
#include "machines/profile_schema.h"

namespace axle::machines {

using detect::Presence;
using Json = nlohmann::json;

namespace {

/// The first thing that is wrong with a file; what is read after it does not count.
class Reading {
 public:
  explicit Reading(std::string_view where) : where_(where) {}

  void refuse(std::string_view path, std::string_view why) {
    if (!error_) {
      const std::string at = path.empty() ? std::string() : fmt::format(" at {}", path);
      error_ = Error{ErrorKind::malformed, fmt::format("{}: {}{}", where_, why, at),
                     "record a profile with `variant detect --profile FILE`"};
    }
  }
  void refuse(Error error) {
    if (!error_) error_ = std::move(error);
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::optional<Error> error_;
};

bool is_plain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return c == '\n' || c == '\t' || (byte >= 0x20 && byte != 0x7F);
}

/// One JSON object: every key is asked for once, and `finish` refuses those nobody asked for.
class Object {
 public:
  Object(const Json& json, std::string path, Reading& reading)
      : json_(json), path_(std::move(path)), reading_(reading) {
    if (!json_.is_object()) reading_.refuse(path_, "expected an object");
  }

  [[nodiscard]] std::string path_of(std::string_view key) const {
    return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
  }
  [[nodiscard]] Reading& reading() { return reading_; }

  const Json* find(const std::string& key) {
    known_.insert(key);
    if (!json_.is_object()) return nullptr;
    const auto found = json_.find(key);
    return found == json_.end() ? nullptr : &*found;
  }

  std::string text(const std::string& key) {
    const Json* value = find(key);
    if (value == nullptr) return {};
    if (!value->is_string()) {
      reading_.refuse(path_of(key), "expected a string");
      return {};
    }
    const auto& text = value->get_ref<const std::string&>();
    if (text.size() > longest_text || !std::ranges::all_of(text, is_plain)) {
      reading_.refuse(path_of(key), "a string that is too long or has control characters");
      return {};
    }
    return text;
  }

  std::optional<std::uint64_t> number(const std::string& key, std::uint64_t largest) {
    const Json* value = find(key);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > largest) {
      reading_.refuse(path_of(key), fmt::format("expected a whole number up to {}", largest));
      return std::nullopt;
    }
    return value->get<std::uint64_t>();
  }

  bool flag(const std::string& key) {
    const Json* value = find(key);
    if (value == nullptr) return false;
    if (!value->is_boolean()) {
      reading_.refuse(path_of(key), "expected true or false");
      return false;
    }
    return value->get<bool>();
  }

  Presence presence(const std::string& key) {
    const std::string word = text(key);
    if (word.empty()) return Presence::unknown;
    for (const Presence presence :
         {Presence::unknown, Presence::absent, Presence::blocked, Presence::present}) {
      if (word == detect::render_presence(presence)) return presence;
    }
    reading_.refuse(path_of(key), "expected present, absent, blocked or unknown");
    return Presence::unknown;
  }

  /// Calls `read(Object&)` for the object under `key`, where there is one.
  template <class Read>
  void part(const std::string& key, Read read) {
    const Json* value = find(key);
    if (value == nullptr) return;
    Object object(*value, path_of(key), reading_);
    read(object);
    object.finish();
  }

  /// Calls `read(Object&)` for every element of the array under `key`.
  template <class Read>
  void each(const std::string& key, Read read) {
    const Json* value = find(key);
    if (value == nullptr) return;
    if (!value->is_array() || value->size() > most_items) {
      reading_.refuse(path_of(key), fmt::format("expected an array of at most {}", most_items));
      return;
    }
    for (std::size_t i = 0; i < value->size() && !reading_.error(); ++i) {
      Object object((*value)[i], fmt::format("{}[{}]", path_of(key), i), reading_);
      read(object);
      object.finish();
    }
  }

  void finish() {
    if (!json_.is_object()) return;
    for (const auto& [key, value] : json_.items()) {
      if (!known_.contains(key)) reading_.refuse(path_of(key), "unknown key");
    }
  }

  [[nodiscard]] const Json& json() const { return json_; }

 private:
  const Json& json_;
  std::string path_;
  Reading& reading_;
  std::set<std::string, std::less<>> known_;
};

unsigned small(const std::optional<std::uint64_t>& value) {
  return value ? static_cast<unsigned>(*value) : 0;
}

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
  if (!object.json().is_object()) return;
  for (const auto& [name, value] : object.json().items()) {
    const auto capability = detect::find_capability(name);
    if (!capability) continue;  // finish() refuses it
    facts.set(*capability, object.presence(name));
  }
}

void read_sources(Object& object, detect::Sources& sources) {
  object.part("sources", [&](Object& part) {
    if (!part.json().is_object()) return;
    for (const auto& [fact, value] : part.json().items()) sources[fact] = part.text(fact);
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
  cpu.amx_permitted = object.flag("amx_permitted");
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

Profile read_profile(Object& object) {
  Profile profile;
  object.part("origin", [&](Object& part) {
    profile.origin = {part.text("kind"), part.text("source"), part.text("date")};
  });
  detect::Machine& machine = profile.machine;
  object.part("cpu", [&](Object& part) { read_cpu(part, machine.cpu); });
  object.each("gpus", [&](Object& part) { machine.gpus.push_back(read_gpu(part)); });
  object.part("drivers", [&](Object& part) { read_drivers(part, machine.drivers); });
  object.each("npus", [&](Object& part) { machine.npus.push_back(read_npu(part)); });
  object.part("os", [&](Object& part) { read_os(part, machine.os); });
  object.part("libc", [&](Object& part) { read_libc(part, machine.libc); });
  object.each("problems", [&](Object& part) {
    machine.problems.push_back({part.text("code"), part.text("message"), part.text("hint")});
  });
  return profile;
}

void check_schema(Object& object) {
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
  check_schema(object);
  Profile profile = read_profile(object);
  object.finish();
  if (reading.error()) return std::unexpected(*reading.error());
  return profile;
}

}  // namespace axle::machines
