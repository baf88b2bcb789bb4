#include "session/cache/cache_contents.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <functional>
#include <optional>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>

#include "foundation/system/file_lock.h"
#include "index/http/cache_store.h"
#include "index/http/url.h"
#include "installer/file_access.h"
#include "installer/store/linked_environments.h"
#include "installer/store/spare_tree.h"
#include "installer/store/stored_entries.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

constexpr std::array kinds = {CacheKind::wheels,          CacheKind::byte_code,
                              CacheKind::partial_wheels,  CacheKind::built_wheels,
                              CacheKind::pages,           CacheKind::metadata,
                              CacheKind::first_downloads, CacheKind::plugin_environments,
                              CacheKind::plugin_failures, CacheKind::models,
                              CacheKind::build_trees,     CacheKind::interpreters,
                              CacheKind::environments,    CacheKind::drivers,
                              CacheKind::tuning,          CacheKind::leftovers};

/// The format that this program writes; 0: the name has no number.
struct Part {
  std::string_view name;
  unsigned format;
};
constexpr std::array parts = {
    Part{"store", 0},           Part{"http", 2},         Part{"builds", 0},    Part{"plugins", 0},
    Part{"variant-builds", 0},  Part{"models", 0},       Part{"mirrors", 0},   Part{"detect", 0},
    Part{"plugin-failures", 0}, Part{"interpreters", 0}, Part{"installed", 0}, Part{"answers", 0},
    Part{"tuning", 1}};

bool is_digits(std::string_view text, std::size_t length) {
  return text.size() == length && text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Of a folder that may be missing, by name. Error: io.
Result<std::vector<std::string>> list_names(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(folder, error);
  if (error && installer::says_absent(error.value())) return names;
  for (const fs::directory_iterator end; !error && entry != end; entry.increment(error))
    names.push_back(entry->path().filename().string());
  if (error) return std::unexpected(installer::system_error("read", folder, error.value()));
  std::ranges::sort(names);
  return names;
}

bool is_real_folder(const std::string& path) {
  const auto status = installer::look_at(path);
  return status && *status && S_ISDIR((*status)->st_mode);
}

bool is_file(const std::string& path) {
  const auto status = installer::look_at(path);
  return status && *status && S_ISREG((*status)->st_mode);
}

/// Calls `see(status)` for `path` and everything below it, but for `skipped`.
void walk(const std::string& path, const std::function<void(const struct stat&)>& see,
          std::string_view skipped = {}) {
  if (path == skipped) return;
  const auto status = installer::look_at(path);
  if (!status || !*status) return;
  see(**status);
  if (!S_ISDIR((*status)->st_mode)) return;
  const auto names = list_names(path);
  if (!names) return;
  for (const std::string& name : *names) walk(path + "/" + name, see, skipped);
}

using FileId = std::pair<dev_t, ino_t>;

FileId id_of(const struct stat& status) { return {status.st_dev, status.st_ino}; }

/// With what can be told of its files.
CachedThing measured(CachedThing thing) {
  const bool times_of_links = thing.kind == CacheKind::wheels || thing.kind == CacheKind::byte_code;
  std::map<FileId, nlink_t> elsewhere;  // how many names a file has outside
  for (const std::string& path : thing.paths) {
    const auto top = installer::look_at(path);
    if (top && *top) thing.used = std::max<std::int64_t>(thing.used, (*top)->st_mtim.tv_sec);
    const auto see = [&](const struct stat& status) {
      if (!S_ISREG(status.st_mode)) return;
      const auto size = static_cast<std::uint64_t>(status.st_size);
      const auto [known, is_first] = elsewhere.try_emplace(id_of(status), status.st_nlink);
      if (is_first) {
        thing.bytes += size;
        thing.shared += size;
      }
      if (--known->second == 0) thing.shared -= size;
      // The time at which a link was made or removed is that of the file's state.
      if (times_of_links) thing.used = std::max<std::int64_t>(thing.used, status.st_ctim.tv_sec);
    };
    const std::string spare = installer::spare_folder(path);
    walk(path, see, spare);
    // More names of the same files; others are nothing to the wheel.
    walk(spare, [&](const struct stat& status) {
      if (elsewhere.contains(id_of(status))) see(status);
    });
  }
  return thing;
}

/// Whether a process works with the file or folder.
bool is_in_use(const std::string& path) {
  const system::Descriptor file(
      ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  return !file || system::try_lock(file, system::Lock::shared);
}

std::set<std::string> package_of_wheel(std::string_view filename) {
  const auto name = wheel::parse_wheel_name(filename);
  if (!name) return {};
  return {wheel::normalize_name(name->distribution)};
}

/// By the metadata folders among the modules.
std::set<std::string> packages_among(const std::string& modules) {
  std::set<std::string> packages;
  const auto names = list_names(modules);
  if (!names) return packages;
  for (const std::string& name : *names) {
    if (name.ends_with(".dist-info"))
      packages.insert(wheel::normalize_name(name.substr(0, name.find('-'))));
  }
  return packages;
}

class Looking {
 public:
  explicit Looking(const std::string& folder) : folder_(folder) {}

  Result<CacheContents> all() {
    auto names = list_names(folder_);
    if (!names) return std::unexpected(names.error());
    for (const std::string& name : *names) {
      if (auto placed = top(name); !placed) return std::unexpected(placed.error());
    }
    return std::move(contents_);
  }

 private:
  void add(CachedThing thing) { contents_.things.push_back(measured(std::move(thing))); }
  void add_unless_in_use(const std::string& path) {
    if (!is_in_use(path)) add({CacheKind::leftovers, {path}});
  }

  Result<void> top(const std::string& name) {
    const std::string path = folder_ + "/" + name;
    if (name == "lock" || name == "CACHEDIR.TAG") return {};
    if (name.starts_with("removed-") && is_real_folder(path)) {
      add_unless_in_use(path);
      return {};
    }
    const std::size_t dash = name.rfind('-');
    unsigned number = 0;
    const bool numbered =
        dash != name.npos &&
        std::from_chars(name.data() + dash + 1, name.data() + name.size(), number).ptr ==
            name.data() + name.size() &&
        dash + 1 < name.size();
    const std::string_view word = numbered ? std::string_view(name).substr(0, dash) : name;
    const auto part = std::ranges::find(parts, word, &Part::name);
    if (part == parts.end()) {
      return fail(ErrorKind::unsupported,
                  fmt::format("{} is not a cache of Axle: {} is none of its files", folder_, name),
                  "name the cache with --cache-dir; nothing was removed");
    }
    if (!is_real_folder(path)) {
      contents_.left_alone.push_back(fmt::format("{} is a link or a file", path));
      return {};
    }
    if (number > part->format) {
      contents_.left_alone.push_back(fmt::format("{} is of a later version of Axle", path));
      return {};
    }
    if (number < part->format) {
      add({CacheKind::leftovers, {path}});
      return {};
    }
    if (word == "store") return store(path);
    if (word == "http") return answers(path);
    if (word == "builds") return builds(path);
    if (word == "plugins") return plugins(path);
    if (word == "models") return models(path);
    if (word == "variant-builds") return build_trees(path);
    if (word == "mirrors") return work_folders(path);
    return files(path, word);
  }

  Result<void> store(const std::string& path) {
    const auto linked = installer::find_linked(path);
    if (!linked) return std::unexpected(linked.error());
    for (const std::string& record : linked->ended) add({CacheKind::leftovers, {record}});
    // Byte code first: without the wheel it is of no use.
    for (const auto& [kind, list] : {std::pair(CacheKind::byte_code, &installer::list_byte_code),
                                     std::pair(CacheKind::wheels, &installer::list_wheels)}) {
      auto entries = list(path);
      if (!entries) return std::unexpected(entries.error());
      for (const installer::StoredEntry& entry : *entries) this->entry(kind, entry, *linked);
    }
    if (auto placed = partial_wheels(path); !placed) return placed;
    return work_folders(path);
  }

  void entry(CacheKind kind, const installer::StoredEntry& entry,
             const installer::LinkedEnvironments& linked) {
    if (entry.state == installer::EntryState::newer) {
      contents_.left_alone.push_back(fmt::format("{} is of a later version of Axle", entry.folder));
    } else if (entry.state == installer::EntryState::unusable) {
      add({CacheKind::leftovers, {entry.folder}});
    } else {
      add({kind, {entry.folder}, package_of_wheel(entry.manifest.file_name)});
      const auto from = linked.by_entry.find(entry.folder);
      if (from == linked.by_entry.end()) return;
      CachedThing& thing = contents_.things.back();
      thing.linked_from = from->second;
      thing.shared = thing.bytes;
    }
  }

  Result<void> partial_wheels(const std::string& path) {
    const auto names = list_names(path);
    if (!names) return std::unexpected(names.error());
    for (const std::string& name : *names) {
      const std::string folder = path + "/" + name;
      if (!name.starts_with("partial-") || !is_digits(name.substr(8), 64) ||
          !is_real_folder(folder) || is_in_use(folder)) {
        continue;
      }
      add({CacheKind::partial_wheels, {folder}, packages_among(folder + "/entry/tree")});
    }
    return {};
  }

  Result<void> work_folders(const std::string& path) {
    const auto names = list_names(path);
    if (!names) return std::unexpected(names.error());
    for (const std::string& name : *names) {
      if (name.starts_with("work-") && is_real_folder(path + "/" + name))
        add_unless_in_use(path + "/" + name);
    }
    return {};
  }

  Result<void> answers(const std::string& path) {
    for (const char digit : std::string_view("0123456789abcdef")) {
      const std::string folder = path + "/" + digit;
      if (!is_real_folder(folder)) continue;
      const auto names = list_names(folder);
      if (!names) return std::unexpected(names.error());
      for (const std::string& name : *names) {
        const bool form = name.ends_with(".form");
        const std::string entry = form ? name.substr(0, name.size() - 5) : name;
        if (!is_digits(entry, 63) || !is_file(folder + "/" + name)) continue;
        // A form goes with its entry, and before it: it answers in its place.
        if (form && std::ranges::binary_search(*names, entry)) continue;
        CachedThing thing = answer(folder + "/" + name);
        if (!form && std::ranges::binary_search(*names, name + ".form"))
          thing.paths.insert(thing.paths.begin(), folder + "/" + name + ".form");
        add(std::move(thing));
      }
    }
    const std::string drafts = path + "/drafts";
    const auto names = is_real_folder(drafts) ? list_names(drafts) : std::vector<std::string>();
    if (!names) return std::unexpected(names.error());
    for (const std::string& name : *names) {
      if (is_file(drafts + "/" + name)) add_unless_in_use(drafts + "/" + name);
    }
    return {};
  }

  /// What it is follows from its URL: a wheel's metadata, or the page of a project.
  static CachedThing answer(const std::string& path) {
    const auto head = index::read_entry_head(path);
    if (!head) return {CacheKind::leftovers, {path}};
    const std::string& url = head->response.url;
    if (url.empty()) return {CacheKind::first_downloads, {path}};
    std::string file = index::url_file_name(url);
    if (file.ends_with(".metadata")) {
      file.resize(file.size() - std::string_view(".metadata").size());
      return {CacheKind::metadata, {path}, package_of_wheel(file)};
    }
    const std::string_view plain = index::split_url(url).path;
    const std::string_view page = plain.substr(0, plain.find_last_not_of('/') + 1);
    const std::string name =
        index::percent_decode(page.substr(std::min(page.rfind('/') + 1, page.size())));
    const std::size_t version = file.ends_with("-variants.json") ? file.find('-') : file.npos;
    const std::string package = version == file.npos ? name : file.substr(0, version);
    return {CacheKind::pages, {path}, {wheel::normalize_name(package)}};
  }

  Result<void> builds(const std::string& path) {
    const auto names = list_names(path);
    if (!names) return std::unexpected(names.error());
    for (const std::string& name : *names) {
      const std::string folder = path + "/" + name;
      if (!is_real_folder(folder)) continue;
      if (is_digits(name, 32)) {
        CachedThing thing{CacheKind::built_wheels, {folder}};
        if (const auto files = list_names(folder)) {
          for (const std::string& file : *files) thing.packages.merge(package_of_wheel(file));
        }
        add(std::move(thing));
      } else if (name.size() > 32 && is_digits(name.substr(0, 32), 32) && name[32] == '.') {
        add({CacheKind::leftovers, {folder}});
      }
    }
    return work_folders(path);
  }

  Result<void> plugins(const std::string& path) {
    const auto names = list_names(path);
    if (!names) return std::unexpected(names.error());
    for (const std::string& name : *names) {
      const std::string folder = path + "/" + name;
      if (!is_real_folder(folder)) continue;
      if (is_digits(name, 32)) {
        add({CacheKind::plugin_environments, {folder}, packages_in(folder)});
      } else if (name.size() > 32 && is_digits(name.substr(0, 32), 32) && name[32] == '.') {
        add({CacheKind::leftovers, {folder}});
      }
    }
    return {};
  }

  Result<void> models(const std::string& path) {
    const auto names = list_names(path);
    if (!names) return std::unexpected(names.error());
    for (const std::string& name : *names) {
      if (is_digits(name, 32) && is_real_folder(path + "/" + name))
        add({CacheKind::models, {path + "/" + name}});
    }
    return work_folders(path);
  }

  Result<void> build_trees(const std::string& path) {
    const auto names = list_names(path);
    if (!names) return std::unexpected(names.error());
    for (const std::string& name : *names) {
      const std::string folder = path + "/" + name;
      // Compilers of a build that was killed hold its lock, too.
      if (is_digits(name, 32) && is_real_folder(folder) && !is_in_use(folder + "/lock"))
        add({CacheKind::build_trees, {folder}});
    }
    return {};
  }

  static std::set<std::string> packages_in(const std::string& environment) {
    std::set<std::string> packages;
    const auto versions = list_names(environment + "/lib");
    if (!versions) return packages;
    for (const std::string& version : *versions)
      packages.merge(packages_among(environment + "/lib/" + version + "/site-packages"));
    return packages;
  }

  Result<void> files(const std::string& path, std::string_view part) {
    const CacheKind kind = part == "detect"                           ? CacheKind::drivers
                           : part == "interpreters"                   ? CacheKind::interpreters
                           : part == "installed" || part == "answers" ? CacheKind::environments
                           : part == "tuning"                         ? CacheKind::tuning
                                                                      : CacheKind::plugin_failures;
    const auto names = list_names(path);
    if (!names) return std::unexpected(names.error());
    for (const std::string& name : *names) {
      const bool digits = kind == CacheKind::interpreters || kind == CacheKind::environments;
      const bool ours = kind == CacheKind::drivers  ? name.starts_with("drivers-")
                        : kind == CacheKind::tuning ? name == "layers.json"
                        : digits                    ? is_digits(name.substr(0, 64), 64)
                                                    : name.contains(".json");
      if (ours && is_file(path + "/" + name)) add({kind, {path + "/" + name}});
    }
    return {};
  }

  std::string folder_;
  CacheContents contents_;
};

}  // namespace

CacheKindName name_of(CacheKind kind) {
  switch (kind) {
    case CacheKind::wheels:
      return {"wheels", "unpacked wheels"};
    case CacheKind::byte_code:
      return {"byte_code", "wheels' byte code"};
    case CacheKind::partial_wheels:
      return {"partial_wheels", "interrupted downloads"};
    case CacheKind::built_wheels:
      return {"built_wheels", "wheels built from source"};
    case CacheKind::pages:
      return {"pages", "pages of indexes"};
    case CacheKind::metadata:
      return {"metadata", "metadata of wheels"};
    case CacheKind::first_downloads:
      return {"first_downloads", "hashes of first downloads"};
    case CacheKind::plugin_environments:
      return {"plugin_environments", "environments of plugins"};
    case CacheKind::plugin_failures:
      return {"plugin_failures", "failures of plugins"};
    case CacheKind::models:
      return {"models", "unpacked models"};
    case CacheKind::build_trees:
      return {"build_trees", "builds of variants"};
    case CacheKind::interpreters:
      return {"interpreters", "answers of interpreters"};
    case CacheKind::environments:
      return {"environments", "lists of installed packages"};
    case CacheKind::drivers:
      return {"drivers", "answers of drivers"};
    case CacheKind::tuning:
      return {"tuning", "measurements of the runtime"};
    case CacheKind::leftovers:
      break;
  }
  return {"leftovers", "leftovers"};
}

std::span<const CacheKind> cache_kinds() { return kinds; }

Result<CacheContents> look_through(const std::string& folder) { return Looking(folder).all(); }

void FreedBytes::add(const std::string& path) {
  walk(path, [&](const struct stat& status) {
    if (!S_ISREG(status.st_mode)) return;
    const std::uint64_t names = ++seen_[id_of(status)];
    if (names == status.st_nlink) bytes_ += static_cast<std::uint64_t>(status.st_size);
  });
}

}  // namespace axle::session
