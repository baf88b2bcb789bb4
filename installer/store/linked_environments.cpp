#include "installer/store/linked_environments.h"

#include <cerrno>
#include <filesystem>
#include <set>
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

/// The entries of `wheels`, a folder with a final slash, that links below `base` point into.
Result<std::set<std::string>> entries_linked_from(const std::string& base,
                                                  const std::string& wheels) {
  const auto listing = TreeListing::read(base, {});
  if (!listing) return std::unexpected(listing.error());
  std::set<std::string> entries;
  for (const TreeFolder& folder : listing->folders()) {
    for (const std::string& name : folder.files) {
      std::error_code none;
      const std::string target =
          fs::read_symlink(fmt::format("{}/{}{}", base, folder.below, name), none).string();
      if (none || !target.starts_with(wheels)) continue;
      entries.insert(target.substr(0, target.find('/', wheels.size())));
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
  const std::string wheels = store + "/wheels/";
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
    const auto entries = *there ? entries_linked_from(*base, wheels)
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
