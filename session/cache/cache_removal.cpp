#include "session/cache/cache_removal.h"

#include <cerrno>
#include <utility>

#include <fcntl.h>
#include <fmt/core.h>
#include <stdio.h>
#include <unistd.h>

#include "foundation/text/ascii.h"
#include "installer/file_access.h"
#include "installer/file_hash.h"
#include "installer/store/stored_entries.h"
#include "installer/tree/remove_tree.h"
#include "installer/work_folder.h"
#include "wheel/hash/sha256.h"

namespace axle::session {

namespace {

constexpr std::int64_t day = 24 * 60 * 60;

/// Zero, or an errno.
int remove_one(const std::string& path, const std::string& aside) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return 0;
  if (errno != EISDIR && errno != EPERM) return errno;
  if (::rename(path.c_str(), aside.c_str()) != 0) return errno == ENOENT ? 0 : errno;
  return installer::remove_tree(aside);
}

std::string last_part(const std::string& path) { return path.substr(path.rfind('/') + 1); }

std::optional<DamagedThing> check_unpacked(const CachedThing& thing) {
  const installer::StoredEntry entry = installer::read_stored_entry(thing.paths.front());
  if (entry.state != installer::EntryState::complete) return std::nullopt;  // removed meanwhile
  const auto files = installer::find_damage(entry);
  if (files.empty()) return std::nullopt;
  DamagedThing damaged{thing, entry.manifest.file_name, {}};
  for (const installer::DamagedFile& file : files)
    damaged.facts.push_back(file.path + (file.path.empty() ? "" : " ") + file.fact);
  return damaged;
}

/// What a build left: "<hexadecimal sha256>  <file>".
std::optional<DamagedThing> check_built(const CachedThing& thing) {
  const std::string& folder = thing.paths.front();
  const auto damaged = [&](std::string what, std::string fact) {
    return DamagedThing{thing, std::move(what), {std::move(fact)}};
  };
  const auto record = installer::read_file(folder + "/sha256", 4096);
  const std::size_t gap = record ? record->find("  ") : std::string::npos;
  if (gap != 64 || !record->ends_with('\n'))
    return damaged(last_part(folder), "its record cannot be read");
  const std::string file = record->substr(gap + 2, record->size() - gap - 3);
  if (file.contains('/')) return damaged(last_part(folder), "its record cannot be read");
  const auto hash = installer::hash_file(AT_FDCWD, folder + "/" + file);
  if (!hash) return damaged(file, "it cannot be read");
  wheel::Sha256Digest digest{};
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const auto digit = [&](std::size_t at) {
      return std::string_view("0123456789abcdef").find(text::ascii_lower((*record)[at]));
    };
    digest[i] = static_cast<std::uint8_t>(digit(2 * i) * 16 + digit(2 * i + 1));
  }
  if (wheel::render_base64(digest) == *hash) return std::nullopt;
  return damaged(file, "it has another content");
}

}  // namespace

CacheRemoval remove_things(const std::string& folder, const std::vector<CachedThing>& things,
                           Dry dry) {
  CacheRemoval removal;
  if (things.empty()) return removal;
  FreedBytes freed;
  // Locked while it is used: what a killed command leaves in it is removed by a later one.
  std::optional<installer::WorkFolder> work;
  if (dry == Dry::no) {
    auto made = installer::WorkFolder::create(folder, "removed-");
    if (!made) {
      removal.error = std::move(made.error());
      return removal;
    }
    work.emplace(std::move(*made));
  }
  std::size_t number = 0;
  for (const CachedThing& thing : things) {
    const std::uint64_t before = freed.bytes();
    for (const std::string& path : thing.paths) freed.add(path);
    int code = 0;
    for (const std::string& path : thing.paths) {
      if (dry == Dry::run || code != 0) break;
      code = remove_one(path, fmt::format("{}/{}", work->path(), ++number));
      if (code != 0 && !removal.error)
        removal.error = installer::system_error("remove", path, code);
    }
    if (code != 0) continue;
    ++removal.removed[thing.kind];
    removal.freed += freed.bytes() - before;
  }
  return removal;
}

void remove_empty_folders(const std::string& folder) {
  // rmdir(2) removes nothing else; the inner ones first.
  std::vector<std::string> inner = {
      "store/byte-code", "store/wheels", "store/linked", "store",          "builds",
      "plugins",         "models",       "mirrors",      "variant-builds", "plugin-failures",
      "interpreters",    "installed",    "answers",      "detect",         "http-2/drafts"};
  for (const char digit : std::string_view("0123456789abcdef"))
    inner.push_back(fmt::format("http-2/{}", digit));
  inner.emplace_back("http-2");
  for (const std::string& one : inner) (void)::rmdir((folder + "/" + one).c_str());
}

bool is_unused(const CachedThing& thing, std::int64_t now) {
  const std::int64_t age = now - thing.used;
  switch (thing.kind) {
    case CacheKind::leftovers:
      return true;
    case CacheKind::wheels:
    case CacheKind::byte_code:
      return thing.shared == 0 && thing.linked_from.empty() && age > 30 * day;
    case CacheKind::partial_wheels:
      return age > 7 * day;
    case CacheKind::built_wheels:
    case CacheKind::plugin_environments:
    case CacheKind::models:
    case CacheKind::build_trees:
      return age > 30 * day;
    case CacheKind::pages:
    case CacheKind::metadata:
    case CacheKind::interpreters:
    case CacheKind::environments:
      return age > 90 * day;
    case CacheKind::plugin_failures:
    case CacheKind::drivers:
      return age > day;
    case CacheKind::tuning:
      return age > 365 * day;
    case CacheKind::first_downloads:
      break;  // another content from the same server is only noticed by it
  }
  return false;
}

CacheCheck check_things(const std::vector<CachedThing>& things) {
  CacheCheck check;
  for (const CachedThing& thing : things) {
    const bool built = thing.kind == CacheKind::built_wheels;
    const bool compiled = thing.kind == CacheKind::byte_code;
    if (!built && !compiled && thing.kind != CacheKind::wheels) continue;
    ++(compiled ? check.byte_code : check.wheels);
    if (auto damaged = built ? check_built(thing) : check_unpacked(thing))
      check.damaged.push_back(std::move(*damaged));
  }
  return check;
}

}  // namespace axle::session
