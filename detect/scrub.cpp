#include "detect/scrub.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <functional>

namespace axle::detect {
namespace {

constexpr std::size_t longest_file = 64 * 1024;
constexpr std::size_t shortest_device_id = 8;
constexpr std::size_t shortest_hex_identity = 32;
constexpr std::string_view nvidia_gpus = "/proc/driver/nvidia/gpus/";

bool is_hex(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

bool is_word(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

bool is_name(char c) { return is_word(c) || c == '.' || c == '-'; }

std::size_t run_of(std::string_view text, bool (*fits)(char)) {
  const auto end = std::ranges::find_if_not(text, fits);
  return static_cast<std::size_t>(end - text.begin());
}

/// Groups of so many hexadecimal digits, apart by `separators`; how long that is, 0 for none.
std::size_t match_groups(std::string_view text, std::initializer_list<std::size_t> groups,
                         std::string_view separators) {
  std::size_t at = 0;
  for (const std::size_t digits : groups) {
    if (at > 0) {
      if (at >= text.size() || separators.find(text[at]) == std::string_view::npos) return 0;
      ++at;
    }
    if (run_of(text.substr(at, digits), is_hex) != digits) return 0;
    at += digits;
  }
  return at < text.size() && is_hex(text[at]) ? 0 : at;
}

std::size_t match_uuid(std::string_view text) { return match_groups(text, {8, 4, 4, 4, 12}, "-_"); }

std::size_t match_mac(std::string_view text) {
  const std::size_t length = match_groups(text, {2, 2, 2, 2, 2, 2}, ":-");
  return length > 0 && length < text.size() && text[length] == ':' ? 0 : length;
}

/// "root@build7"
std::size_t match_address(std::string_view text) {
  const std::size_t user = run_of(text, is_name);
  if (user == 0 || user >= text.size() || text[user] != '@') return 0;
  const std::size_t host = run_of(text.substr(user + 1), is_name);
  return host == 0 ? user + 1 : user + 1 + host;
}

/// "/home/name", "/Users/name"
std::size_t match_home(std::string_view text, const std::string& home) {
  for (const std::string_view root : {"/home/", "/Users/"}) {
    if (!text.starts_with(root)) continue;
    const std::size_t end = std::min(text.find_first_of("/:; \t\n", root.size()), text.size());
    if (end > root.size()) return end;
  }
  const bool own = home.size() > 1 && text.starts_with(home) &&
                   (text.size() == home.size() || !is_name(text[home.size()]));
  return own ? home.size() : 0;
}

bool is_whole_word(std::string_view text, std::size_t at, std::size_t length) {
  const std::size_t end = at + length;
  return (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
}

/// The names of devices that a driver or a mask used, and what stands for them.
class DeviceNames {
 public:
  /// Takes every "GPU-…" and "MIG-…" in `text`.
  void learn(std::string_view text) {
    for (std::size_t at = 0; at < text.size(); ++at) {
      const std::size_t length = match(text.substr(at));
      if (length == 0) continue;
      add(std::string(text.substr(at, length)));
      at += length - 1;
    }
  }

  /// AMD's are numbers in the topology, and in masks "GPU-" and that number in hexadecimal.
  void learn_number(std::uint64_t id) {
    if (id == 0 || numbers_.contains(id)) return;
    const std::uint64_t number = numbers_.size() + 1;
    numbers_[id] = number;
    names_[spell(id)] = spell(number);
  }

  [[nodiscard]] std::uint64_t number_of(std::uint64_t id) const {
    const auto found = numbers_.find(id);
    return found == numbers_.end() ? 0 : found->second;
  }

  static std::size_t match(std::string_view text) {
    for (const std::string_view kind : {"GPU-", "MIG-"}) {
      if (!text.starts_with(kind)) continue;
      const std::size_t id =
          run_of(text.substr(kind.size()), [](char c) { return is_hex(c) || c == '-'; });
      if (id >= shortest_device_id) return kind.size() + id;
    }
    return 0;
  }

  /// For a whole name, or the beginning of one, as masks may have it.
  [[nodiscard]] std::string replace(const std::string& name) const {
    for (const auto& [known, instead] : names_) {
      if (known.starts_with(name)) return instead;
    }
    // What stands for a name, from a recording that was scrubbed before, stays.
    if (order_.empty() && name.size() <= 4 + 3) return name;
    return name.substr(0, 4) + "unknown";
  }

  /// Numbers get equal widths, so that none is the beginning of another.
  void settle() {
    const int width = order_.size() > 10 ? 3 : 1;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      std::array<char, 32> text;
      std::snprintf(text.data(), text.size(), "%s%0*zu", order_[i].substr(0, 4).c_str(), width, i);
      names_[order_[i]] = text.data();
    }
  }

 private:
  void add(const std::string& name) {
    if (names_.contains(name)) return;
    names_[name] = "";
    order_.push_back(name);
  }

  static std::string spell(std::uint64_t id) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "GPU-%016llx", static_cast<unsigned long long>(id));
    return text.data();
  }

  std::map<std::string, std::string> names_;
  std::map<std::uint64_t, std::uint64_t> numbers_;
  std::vector<std::string> order_;
};

/// Replaces identities in running text.
class Cleaner {
 public:
  Cleaner(const DeviceNames& devices, const Identity& identity)
      : devices_(devices), identity_(identity) {}

  [[nodiscard]] std::string text(std::string_view in) const {
    std::string out;
    std::size_t at = 0;
    while (at < in.size()) {
      std::string instead;
      const std::size_t length = match(in, at, instead);
      if (length == 0) {
        out += in[at++];
      } else {
        out += instead;
        at += length;
      }
    }
    return out;
  }

 private:
  std::size_t match(std::string_view in, std::size_t at, std::string& instead) const {
    const std::string_view rest = in.substr(at);
    if (const std::size_t length = DeviceNames::match(rest)) {
      instead = devices_.replace(std::string(rest.substr(0, length)));
      return length;
    }
    if (const std::size_t length = match_uuid(rest)) {
      instead = "00000000-0000-0000-0000-000000000000";
      return length;
    }
    if (const std::size_t length = match_home(rest, identity_.home)) {
      instead = "/home/user";
      return length;
    }
    if (at > 0 && is_word(in[at - 1])) return 0;
    if (const std::size_t length = match_mac(rest)) {
      instead = "00:00:00:00:00:00";
      return length;
    }
    if (const std::size_t length = match_address(rest)) {
      instead = "user@host";
      return length;
    }
    if (const std::size_t length = run_of(rest, is_hex); length >= shortest_hex_identity) {
      instead = "0";
      return length;
    }
    return match_names(in, at, instead);
  }

  std::size_t match_names(std::string_view in, std::size_t at, std::string& instead) const {
    const std::array<std::pair<const std::string&, const char*>, 2> names{
        {{identity_.host_name, "host"}, {identity_.user_name, "user"}}};
    for (const auto& [name, stand_in] : names) {
      // "root" and the like are words of the system before they are anyone's name.
      if (name.size() < 3 || name == "root") continue;
      if (!in.substr(at).starts_with(name) || !is_whole_word(in, at, name.size())) continue;
      instead = stand_in;
      return name.size();
    }
    return 0;
  }

  const DeviceNames& devices_;
  const Identity& identity_;
};

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

/// Files that hold nothing but an identity.
bool is_identity(std::string_view path) {
  const std::string_view file = last_part(path);
  return holds_any(file, {"serial", "uuid", "machine-id", "machine_id", "hostname", "boot_id",
                          "unique_id", "asset_tag", "environ"}) ||
         path == "/proc/cmdline" || (path.starts_with("/sys/class/net/") && file == "address");
}

bool is_topology(std::string_view path) {
  return holds_any(path, {"/kfd/topology/nodes/"}) && last_part(path) == "properties";
}

/// The loader's cache lists every library of the machine: those that drivers consist of stay.
std::string keep_driver_libraries(std::string_view cache) {
  std::string kept(1, '\0');
  while (!cache.empty()) {
    const std::size_t end = std::min(cache.find('\0'), cache.size());
    const std::string_view entry = cache.substr(0, end);
    const std::size_t slash = entry.find('/');
    const std::string_view path =
        slash == std::string_view::npos ? std::string_view() : entry.substr(slash);
    if (begins_with_any(
            last_part(path),
            {"libcuda.so", "libnvidia-ml.so", "libze_", "librocm_smi64.so", "libamd_smi",
             "libamdhip64.so", "libhsa-runtime64.so", "libdcmi.so", "libascend", "libtpu.so"})) {
      kept += std::string(path) + '\0';
    }
    cache.remove_prefix(std::min(end + 1, cache.size()));
  }
  return kept.size() > 1 ? kept : std::string();
}

/// Control groups are called after containers, which people name: what tells their kind stays.
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
    // The serial number of old processors, and which of its CPUs happened to answer.
    for (CpuidAnswers* leaves : all_leaves(out)) clean_leaves(*leaves);
    clean_files(out);
    out.links = clean_map(raw_.links);
    out.programs = clean_map(raw_.programs);
    out.stamps = clean_map(raw_.stamps);
    out.nodes.clear();
    for (const auto& [path, access] : raw_.nodes) out.nodes[cleaner_.text(path)] = access;
    clean_folders(out);
    clean_variables(out);
    for (auto& [vendor, answer] : out.answers) answer.lines = cleaner_.text(answer.lines);
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
    for (const auto& [path, value] : map) out[cleaner_.text(path)] = cleaner_.text(value);
    return out;
  }

  void clean_files(Recording& out) const {
    out.files.clear();
    for (const auto& [path, content] : raw_.files) {
      if (is_identity(path)) continue;
      std::string kept = clean_file(path, content);
      if (kept.size() > longest_file) kept.resize(longest_file);
      out.files[cleaner_.text(path)] = std::move(kept);
    }
  }

  [[nodiscard]] std::string clean_file(const std::string& path, const std::string& content) const {
    if (path.starts_with(nvidia_gpus) && last_part(path) == "information") {
      return keep_lines(content, [](std::string_view line) {
        return begins_with_any(line, {"Model:", "Device Minor:", "Bus Location:"});
      });
    }
    if (last_part(path) == "os-release") {
      return keep_lines(content, [](std::string_view line) {
        return begins_with_any(line, {"NAME=", "PRETTY_NAME=", "VERSION_ID=", "VERSION=", "ID=",
                                      "ID_LIKE=", "VERSION_CODENAME="});
      });
    }
    if (path.ends_with("/cgroup")) return keep_container_marks(content);
    if (last_part(path) == ".containerenv") {
      return keep_lines(content, [](std::string_view line) { return line.starts_with("engine="); });
    }
    if (path == "/etc/ld.so.cache") return keep_driver_libraries(content);
    if (is_topology(path)) return clean_topology(content);
    // Versions and build ids of kernel modules are no identities, however long they are.
    if (path.starts_with("/sys/module/")) return content;
    return cleaner_.text(content);
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

  /// Whether anything below that path was asked for and was there.
  [[nodiscard]] bool was_asked(const std::string& path) const {
    const auto below = [&](const auto& map) {
      const auto at = map.lower_bound(path);
      return at != map.end() && (at->first == path || at->first.starts_with(path + '/'));
    };
    return below(raw_.files) || below(raw_.links) || below(raw_.nodes) || below(raw_.folders) ||
           below(raw_.programs);
  }

  /// /sys names devices; every other folder is someone's, and only what was asked about stays.
  [[nodiscard]] bool keeps_name(const std::string& folder, const std::string& entry) const {
    if (folder.starts_with("/sys/") || folder.starts_with("/proc/driver/")) return true;
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
        if (keeps_name(folder, entry)) kept.push_back(cleaner_.text(entry));
      }
      if (!kept.empty()) out.folders[cleaner_.text(folder)] = std::move(kept);
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
                                                       : cleaner_.text(value);
      // An empty mask hides everything; an empty path says nothing.
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
      out += (out.empty() ? "" : ":") + cleaner_.text(folder);
    }
    return out;
  }

  /// Entries may be beginnings of names, shorter than any name in running text.
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
