#include "detect/record/scrub.h"

#include <algorithm>
#include <charconv>
#include <functional>

#include "detect/drivers/loader_cache.h"
#include "detect/record/identity_text.h"

namespace axle::detect {
namespace {

constexpr std::size_t longest_file = 64 * 1024;
constexpr std::string_view nvidia_gpus = "/proc/driver/nvidia/gpus/";

void each_line(std::string_view text, const std::function<void(std::string_view)>& use) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::string keep_lines(std::string_view text, const std::function<bool(std::string_view)>& keep) {
  std::string kept;
  each_line(text, [&](std::string_view line) {
    if (keep(line)) kept += std::string(line) + '\n';
  });
  return kept;
}

bool begins_with_any(std::string_view text, std::initializer_list<std::string_view> beginnings) {
  return std::ranges::any_of(beginnings,
                             [&](std::string_view each) { return text.starts_with(each); });
}

bool holds_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(
      parts, [&](std::string_view part) { return text.find(part) != std::string_view::npos; });
}

std::string_view last_part(std::string_view path) { return path.substr(path.rfind('/') + 1); }

/// Files that contain nothing but an identity.
bool is_identity(std::string_view path) {
  const std::string_view file = last_part(path);
  return holds_any(file, {"serial", "uuid", "machine-id", "machine_id", "hostname", "boot_id",
                          "unique_id", "asset_tag", "environ", "cmdline", "mountinfo"}) ||
         (path.starts_with("/sys/class/net/") && file == "address");
}

bool is_topology(std::string_view path) {
  return holds_any(path, {"/kfd/topology/nodes/"}) && last_part(path) == "properties";
}

/// The loader's cache lists every library of the machine: those of drivers are kept.
std::string keep_driver_libraries(std::string_view cache, const Cleaner& cleaner) {
  std::string kept(1, '\0');
  for (const std::string& path : paths_in_loader_cache(cache)) {
    if (begins_with_any(
            last_part(path),
            {"libcuda.so", "libnvidia-ml.so", "libze_", "librocm_smi64.so", "libamd_smi",
             "libamdhip64.so", "libhsa-runtime64.so", "libdcmi.so", "libascend", "libtpu.so"})) {
      kept += cleaner.path(path) + '\0';
    }
  }
  return kept.size() > 1 ? kept : std::string();
}

/// Control groups are named after containers, which people name: the parts that show the kind are
/// kept.
std::string keep_container_marks(std::string_view content) {
  std::string kept;
  for (const std::string_view mark :
       {"kubepods", "libpod", "/docker/", "docker-", "/lxc/", "lxc.payload", "/crio-"}) {
    if (content.find(mark) == std::string_view::npos) continue;
    kept += "0::/" + std::string(mark.substr(mark.starts_with('/') ? 1 : 0)) + '\n';
  }
  return kept.empty() ? "0::/\n" : kept;
}

std::uint64_t unique_id_of(std::string_view line) {
  constexpr std::string_view key = "unique_id ";
  std::uint64_t id = 0;
  if (line.starts_with(key))
    std::from_chars(line.data() + key.size(), line.data() + line.size(), id);
  return id;
}

class Scrubber {
 public:
  Scrubber(const Recording& raw, const Identity& identity)
      : raw_(raw), cleaner_(devices_, identity) {
    for (const auto& [vendor, answer] : raw.answers) devices_.learn(answer.lines);
    for (const auto& [path, output] : raw.programs) devices_.learn(output);
    devices_.settle();
    for (const auto& [path, content] : raw.files) {
      if (!is_topology(path)) continue;
      each_line(content, [&](std::string_view line) { devices_.learn_number(unique_id_of(line)); });
    }
  }

  Recording clean() {
    Recording out = raw_;
    // The serial number of old processors, and the number of the CPU that answered.
    for (CpuidAnswers* leaves : all_leaves(out)) clean_leaves(*leaves);
    clean_files(out);
    out.links = clean_map(raw_.links);
    out.programs.clear();
    for (const auto& [command, output] : raw_.programs) {
      out.programs[cleaner_.path(command)] = cleaner_.text(output);
    }
    out.stopped.clear();
    for (const std::string& command : raw_.stopped) out.stopped.insert(cleaner_.path(command));
    out.stamps = clean_map(raw_.stamps);
    out.nodes.clear();
    for (const auto& [path, access] : raw_.nodes) out.nodes[cleaner_.path(path)] = access;
    clean_folders(out);
    clean_variables(out);
    for (auto& [vendor, answer] : out.answers) answer.lines = clean_lines(answer.lines);
    out.name.release = cleaner_.text(raw_.name.release);
    return out;
  }

 private:
  static std::vector<CpuidAnswers*> all_leaves(Recording& recording) {
    std::vector<CpuidAnswers*> all{&recording.leaves};
    for (auto& [cpu, leaves] : recording.leaves_of_cpu) all.push_back(&leaves);
    return all;
  }

  static void clean_leaves(CpuidAnswers& leaves) {
    constexpr std::uint32_t serial_number = 3;
    constexpr std::uint32_t initial_apic_id = 0xFF000000;
    std::erase_if(leaves, [](const auto& entry) {
      const std::uint32_t leaf = entry.first.first;
      return leaf == serial_number || leaf == 0xB || leaf == 0x1F || leaf == 0x8000001E;
    });
    if (const auto found = leaves.find({1, 0}); found != leaves.end()) {
      found->second.ebx &= ~initial_apic_id;
    }
  }

  [[nodiscard]] std::map<std::string, std::string> clean_map(
      const std::map<std::string, std::string>& map) const {
    std::map<std::string, std::string> out;
    for (const auto& [path, value] : map) out[cleaner_.path(path)] = cleaner_.below(path, value);
    return out;
  }

  void clean_files(Recording& out) const {
    out.files.clear();
    for (const auto& [path, content] : raw_.files) {
      if (is_identity(path)) continue;
      std::string kept = clean_file(path, content);
      if (kept.size() > longest_file) kept.resize(longest_file);
      out.files[cleaner_.path(path)] = std::move(kept);
    }
  }

  [[nodiscard]] std::string clean_file(const std::string& path, const std::string& content) const {
    if (path.starts_with(nvidia_gpus) && last_part(path) == "information") {
      return cleaner_.text(keep_lines(content, [](std::string_view line) {
        return begins_with_any(line, {"Model:", "Device Minor:", "Bus Location:"});
      }));
    }
    if (last_part(path) == "os-release") {
      return cleaner_.text(keep_lines(content, [](std::string_view line) {
        return begins_with_any(line, {"NAME=", "PRETTY_NAME=", "VERSION_ID=", "VERSION=", "ID=",
                                      "ID_LIKE=", "VERSION_CODENAME="});
      }));
    }
    // The rest is large and changes all the time.
    if (path == "/proc/cpuinfo") {
      return keep_lines(content, [](std::string_view line) { return line.starts_with("flags"); });
    }
    if (path.ends_with("/cgroup")) return keep_container_marks(content);
    if (last_part(path) == ".containerenv") {
      return keep_lines(content, [](std::string_view line) { return line.starts_with("engine="); });
    }
    if (path == loader_cache_file) return keep_driver_libraries(content, cleaner_);
    if (is_topology(path)) return clean_topology(content);
    // Versions and build ids of kernel modules are not identities, however long they are.
    if (path.starts_with("/sys/module/")) return content;
    if (path.starts_with("/sys/")) return cleaner_.below(path, content);
    return cleaner_.text(content);
  }

  /// The word before the first tab belongs to the protocol (detect/drivers/driver_lines.h).
  [[nodiscard]] std::string clean_lines(std::string_view lines) const {
    std::string out;
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size() - 1) + 1;
      const std::string_view line = lines.substr(0, end);
      const std::size_t word = std::min(line.find('\t'), line.size());
      out += std::string(line.substr(0, word)) + cleaner_.text(line.substr(word));
      lines.remove_prefix(end);
    }
    return out;
  }

  [[nodiscard]] std::string clean_topology(std::string_view content) const {
    std::string out;
    each_line(content, [&](std::string_view line) {
      const std::uint64_t id = unique_id_of(line);
      out += id == 0 ? std::string(line) : "unique_id " + std::to_string(devices_.number_of(id));
      out += '\n';
    });
    return out;
  }

  /// Whether anything below that path was queried and existed.
  [[nodiscard]] bool was_asked(const std::string& path) const {
    const auto below = [&](const auto& map) {
      const auto at = map.lower_bound(path);
      return at != map.end() && (at->first == path || at->first.starts_with(path + '/'));
    };
    return below(raw_.files) || below(raw_.links) || below(raw_.nodes) || below(raw_.folders) ||
           below(raw_.programs);
  }

  /// /sys has names of devices; every other folder is personal, and only queried entries are kept.
  [[nodiscard]] bool keeps_name(const std::string& folder, const std::string& entry) const {
    if (folder.starts_with("/sys/") || folder.starts_with("/proc/driver/")) return true;
    if (folder == "/dev/dri" || folder == "/dev/accel") return true;
    if (was_asked(folder + '/' + entry)) return true;
    return folder == "/dev" &&
           begins_with_any(entry, {"nvidia", "nvhost", "nvmap", "kfd", "dri", "dxg", "davinci",
                                   "devmm_svm", "hisi_hdc", "accel", "vfio"});
  }

  void clean_folders(Recording& out) const {
    out.folders.clear();
    for (const auto& [folder, names] : raw_.folders) {
      std::vector<std::string> kept;
      for (const std::string& entry : names) {
        if (keeps_name(folder, entry)) kept.push_back(cleaner_.below(folder, entry));
      }
      if (!kept.empty()) out.folders[cleaner_.path(folder)] = std::move(kept);
    }
  }

  void clean_variables(Recording& out) const {
    out.variables.clear();
    for (const auto& [variable, value] : raw_.variables) {
      if (variable == "HOME" || variable == "USER" || variable == "LOGNAME" ||
          variable == "HOSTNAME") {
        continue;
      }
      const bool mask = variable.ends_with("VISIBLE_DEVICES");
      const bool address = variable == "KUBERNETES_SERVICE_HOST";
      std::string kept = variable == "LD_LIBRARY_PATH" ? clean_library_path(value)
                         : mask                        ? clean_mask(value)
                         : address && !value.empty()   ? "set"
                         : value.starts_with('/')      ? cleaner_.path(value)
                                                       : cleaner_.text(value);
      // An empty mask hides everything; an empty path means nothing.
      if (!kept.empty() || value.empty()) out.variables[variable] = std::move(kept);
    }
  }

  [[nodiscard]] std::string clean_library_path(std::string_view value) const {
    std::string out;
    while (!value.empty()) {
      const std::size_t end = std::min(value.find_first_of(":;"), value.size());
      std::string folder(value.substr(0, end));
      value.remove_prefix(std::min(end + 1, value.size()));
      if (folder.empty() || !was_asked(folder)) continue;
      out += (out.empty() ? "" : ":") + cleaner_.path(folder);
    }
    return out;
  }

  /// Entries may be prefixes of names, shorter than any name in running text.
  [[nodiscard]] std::string clean_mask(std::string_view value) const {
    std::string out;
    while (true) {
      const std::size_t end = std::min(value.find(','), value.size());
      const std::string entry(value.substr(0, end));
      const bool named = begins_with_any(entry, {"GPU-", "MIG-"}) && !entry.starts_with("MIG-GPU-");
      out += named ? devices_.replace(entry) : cleaner_.text(entry);
      if (end == value.size()) return out;
      out += ',';
      value.remove_prefix(end + 1);
    }
  }

  const Recording& raw_;
  DeviceNames devices_;
  Cleaner cleaner_;
};

}  // namespace

Recording scrub(const Recording& raw, const Identity& identity) {
  return Scrubber(raw, identity).clean();
}

}  // namespace axle::detect
