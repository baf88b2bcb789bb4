#include "detect/record/identity_text.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <initializer_list>

namespace axle::detect {
namespace {

constexpr std::size_t shortest_device_id = 8;
constexpr std::size_t shortest_hex_identity = 32;

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

/// Groups of that many hexadecimal digits, separated by `separators`; returns the length, 0 for
/// none.
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

/// Words of systems and drivers that are not treated as names of people.
bool is_vocabulary(std::string_view name) {
  constexpr std::array words{"root",   "nvidia", "amd",    "intel",  "cuda",  "rocm",   "linux",
                             "debian", "ubuntu", "fedora", "docker", "tegra", "jetson", "localhost",
                             "gpu",    "driver", "device", "step",   "lib",   "usr",    "user",
                             "host",   "orin",   "thor",   "local",  "build", "node"};
  return std::ranges::find(words, name) != words.end();
}

/// A home folder that belongs to the system is not personal: removing it would remove the system's
/// paths as well.
bool is_private_home(std::string_view home) {
  if (home == "/root") return true;
  constexpr std::array roots{"/usr", "/sys", "/proc", "/dev", "/etc", "/opt", "/lib", "/bin"};
  const bool deep =
      home.find('/', 1) != std::string_view::npos && home.find('/', 1) + 1 < home.size();
  return deep &&
         std::ranges::none_of(roots, [&](std::string_view root) { return home.starts_with(root); });
}

/// Folders whose names detection and the system define, not people. Removable media and NixOS'
/// profiles are in folders that are named after users.
bool is_system_path(std::string_view path) {
  constexpr std::array roots{"/usr/",  "/lib",  "/bin/", "/sbin/", "/etc/", "/sys/",
                             "/proc/", "/dev/", "/run/", "/boot/", "/.",    "/opt/rocm"};
  constexpr std::array peoples{"/run/media/", "/etc/profiles/"};
  if (std::ranges::any_of(peoples, [&](std::string_view root) { return path.starts_with(root); }))
    return false;
  return path == "/opt" || path == "/dev" ||
         std::ranges::any_of(roots, [&](std::string_view root) { return path.starts_with(root); });
}

/// ".example.org" after the name of a host: words, one of which is not a number.
std::size_t match_domain(std::string_view text) {
  std::size_t end = 0;
  bool letters = false;
  while (end + 1 < text.size() && text[end] == '.' && is_word(text[end + 1])) {
    const std::size_t word =
        run_of(text.substr(end + 1), [](char c) { return is_word(c) || c == '-'; });
    const auto digit = [](char c) { return c >= '0' && c <= '9'; };
    letters = letters || !std::ranges::all_of(text.substr(end + 1, word), digit);
    end += 1 + word;
  }
  return letters ? end : 0;
}

/// "/home/name", "/Users/name"
std::size_t match_home(std::string_view text, const std::string& home) {
  for (const std::string_view root : {"/home/", "/Users/"}) {
    if (!text.starts_with(root)) continue;
    const std::size_t end = std::min(text.find_first_of("/:; \t\n", root.size()), text.size());
    if (end > root.size()) return end;
  }
  const bool own = is_private_home(home) && text.starts_with(home) &&
                   (text.size() == home.size() || !is_name(text[home.size()]));
  return own ? home.size() : 0;
}

bool is_whole_word(std::string_view text, std::size_t at, std::size_t length) {
  const std::size_t end = at + length;
  return (at == 0 || !is_word(text[at - 1])) && (end == text.size() || !is_word(text[end]));
}

std::string spell(std::uint64_t id) {
  std::array<char, 32> text;
  std::snprintf(text.data(), text.size(), "GPU-%016llx", static_cast<unsigned long long>(id));
  return text.data();
}

}  // namespace

void DeviceNames::learn(std::string_view text) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t length = match(text.substr(at));
    if (length == 0) continue;
    const std::string name(text.substr(at, length));
    if (names_.try_emplace(name).second) order_.push_back(name);
    at += length - 1;
  }
}

void DeviceNames::learn_number(std::uint64_t id) {
  if (id == 0 || numbers_.contains(id)) return;
  const std::uint64_t number = numbers_.size() + 1;
  numbers_[id] = number;
  names_[spell(id)] = spell(number);
}

std::uint64_t DeviceNames::number_of(std::uint64_t id) const {
  const auto found = numbers_.find(id);
  return found == numbers_.end() ? 0 : found->second;
}

std::size_t DeviceNames::match(std::string_view text) {
  for (const std::string_view kind : {"GPU-", "MIG-"}) {
    if (!text.starts_with(kind)) continue;
    const std::size_t id =
        run_of(text.substr(kind.size()), [](char c) { return is_hex(c) || c == '-'; });
    if (id >= shortest_device_id) return kind.size() + id;
  }
  return 0;
}

std::string DeviceNames::replace(const std::string& name) const {
  for (const auto& [known, instead] : names_) {
    if (known.starts_with(name)) return instead;
  }
  // Replacements in a recording that was scrubbed before are kept.
  if (order_.empty() && name.size() <= 4 + 3) return name;
  return name.substr(0, 4) + "unknown";
}

void DeviceNames::settle() {
  const int width = order_.size() > 10 ? 3 : 1;
  for (std::size_t i = 0; i < order_.size(); ++i) {
    std::array<char, 32> text;
    std::snprintf(text.data(), text.size(), "%s%0*zu", order_[i].substr(0, 4).c_str(), width, i);
    names_[order_[i]] = text.data();
  }
}

std::string Cleaner::clean(std::string_view in, bool names) const {
  std::string out;
  std::size_t at = 0;
  while (at < in.size()) {
    std::string instead;
    std::size_t length = match(in, at, instead);
    const bool word_begins = at == 0 || !is_word(in[at - 1]);
    if (length == 0 && names && word_begins) length = match_names(in, at, instead);
    if (length == 0) {
      out += in[at++];
    } else {
      out += instead;
      at += length;
    }
  }
  return out;
}

std::string Cleaner::below(std::string_view path, std::string_view in) const {
  return clean(in, !is_system_path(path));
}

std::size_t Cleaner::match(std::string_view in, std::size_t at, std::string& instead) const {
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
  return 0;
}

std::size_t Cleaner::match_names(std::string_view in, std::size_t at, std::string& instead) const {
  const auto stands_here = [&](const std::string& name) {
    return name.size() >= 3 && !is_vocabulary(name) && in.substr(at).starts_with(name) &&
           is_whole_word(in, at, name.size());
  };
  if (const std::string& host = identity_.host_name; stands_here(host)) {
    instead = "host";
    return host.size() + match_domain(in.substr(at + host.size()));
  }
  const auto user = std::ranges::find_if(identity_.user_names, stands_here);
  if (user == identity_.user_names.end()) return 0;
  instead = "user";
  return user->size();
}

}  // namespace axle::detect
