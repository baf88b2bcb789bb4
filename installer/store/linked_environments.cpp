#include "installer/store/linked_environments.h"

#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <sys/stat.h>

#include "foundation/system/whole_file.h"
#include "installer/file_access.h"
#include "installer/tree/tree_listing.h"
#include "wheel/hash/sha256.h"

namespace axle::installer {
namespace {

namespace fs = std::filesystem;

/// Which entry of a store a link leads into: the store may have several paths.
class StorePaths {
 public:
  explicit StorePaths(const std::string& store) : store_(store), canonical_(canonical(store)) {}

  /// As a path in `store`; empty: it leads elsewhere.
  std::string entry_of(const std::string& target) {
    constexpr std::string_view wheels = "/wheels/";
    for (std::size_t at = target.find(wheels); at != std::string::npos;
         at = target.find(wheels, at + 1)) {
      const std::string place = target.substr(0, at);
      const auto known = known_.try_emplace(place, std::string()).first;
      if (known->second.empty()) known->second = canonical(place);
      if (known->second != canonical_) continue;
      const std::size_t name = at + wheels.size();
      return fmt::format("{}{}{}", store_, wheels,
                         target.substr(name, target.find('/', name) - name));
    }
    return {};
  }

 private:
  static std::string canonical(const std::string& path) {
    std::error_code none;
    const fs::path found = fs::canonical(path, none);
    return none ? path : found.string();
  }

  std::string store_;
  std::string canonical_;
  std::map<std::string, std::string> known_;  ///< path -> canonical path
};

/// The entries of the store that links below `base` point into.
Result<std::set<std::string>> entries_linked_from(const std::string& base, StorePaths& store) {
  const auto listing = TreeListing::read(base, {});
  if (!listing) return std::unexpected(listing.error());
  std::set<std::string> entries;
  for (const TreeFolder& folder : listing->folders()) {
    for (const std::string& name : folder.files) {
      std::error_code none;
      const std::string target =
          fs::read_symlink(fmt::format("{}/{}{}", base, folder.below, name), none).string();
      if (none) continue;
      if (std::string entry = store.entry_of(target); !entry.empty())
        entries.insert(std::move(entry));
    }
  }
  return entries;
}

}  // namespace

Result<void> remember_linked(const std::string& store, const std::string& base) {
  const std::string folder = store + "/linked";
  const std::string path = fmt::format("{}/{}", folder, wheel::render_hex(wheel::sha256(base)));
  const auto there = exists(path);
  if (!there) return std::unexpected(there.error());
  if (*there) return {};
  if (::mkdir(folder.c_str(), 0777) != 0 && errno != EEXIST)
    return std::unexpected(system_error("create", folder, errno));
  if (const std::error_code error =
          system::write_whole_file(path, base, {.flush = system::Flush::no}))
    return std::unexpected(system_error("write", path, error.value()));
  return {};
}

Result<LinkedEnvironments> find_linked(const std::string& store) {
  constexpr std::uint64_t longest_path = 1U << 16;
  const std::string folder = store + "/linked";
  StorePaths paths(store);
  LinkedEnvironments linked;
  std::error_code error;
  fs::directory_iterator record(folder, error);
  if (error && says_absent(error.value())) return linked;
  for (const fs::directory_iterator end; !error && record != end; record.increment(error)) {
    const std::string path = record->path().string();
    const auto base = read_file(path, longest_path);
    if (!base && base.error().kind == ErrorKind::io) return std::unexpected(base.error());
    const auto there = base && base->starts_with('/') ? exists(*base) : Result<bool>(false);
    if (!there) return std::unexpected(there.error());
    const auto entries = *there ? entries_linked_from(*base, paths)
                                : Result<std::set<std::string>>(std::set<std::string>());
    if (!entries) return std::unexpected(entries.error());
    if (entries->empty()) {
      linked.ended.push_back(path);
      continue;
    }
    for (const std::string& entry : *entries) linked.by_entry[entry].push_back(*base);
  }
  if (error) return std::unexpected(system_error("read", folder, error.value()));
  return linked;
}

}  // namespace axle::installer
