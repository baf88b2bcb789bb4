// cache: what Axle keeps of downloads and answers.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "foundation/text/byte_size.h"
#include "session/cache/cache_contents.h"
#include "session/cache/cache_lock.h"
#include "session/cache/cache_removal.h"
#include "session/session.h"
#include "session/sole_owner.h"
#include "wheel/requirement.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;
using session::CacheContents;
using session::CachedThing;
using session::CacheKind;

session::Outcome<std::string> place_of(const session::Session& session) {
  std::string folder = session.cache_place();
  if (!folder.empty()) return folder;
  return session::failed({ErrorKind::not_found, "nothing says where the cache is",
                          "set HOME or AXLE_CACHE_DIR, or use --cache-dir"});
}

/// The cache, with links resolved and, to change it, locked. Of one that does not exist `folder` is
/// empty, and so is what is in it.
struct OpenedCache {
  std::string folder;
  system::Descriptor lock;
  CacheContents contents;
};

enum class Purpose : std::uint8_t { look, remove };

session::Outcome<OpenedCache> open_cache(session::Session& session, Purpose purpose) {
  const auto place = place_of(session);
  if (!place) return std::unexpected(place.error());
  OpenedCache cache;
  std::error_code error;
  if (!std::filesystem::exists(*place, error)) return cache;
  if (!std::filesystem::is_directory(*place, error)) {
    return session::failed(
        {ErrorKind::malformed, fmt::format("the cache {} is not a folder", *place)});
  }
  auto own =
      purpose == Purpose::look ? session::check_own_folder(*place) : session::own_folder(*place);
  if (!own) return session::failed(own.error());
  cache.folder = std::move(*own);
  // What it is has to be known before anything is created in it.
  auto contents = session::look_through(cache.folder);
  if (!contents) return session::failed(contents.error());
  if (contents->things.empty()) {
    // Not even a lock is put into a folder that is empty.
  } else if (purpose == Purpose::remove) {
    auto lock = session::claim_cache(cache.folder, session.report());
    if (!lock) return session::failed(lock.error());
    cache.lock = std::move(*lock);
    contents = session::look_through(cache.folder);
    if (!contents) return session::failed(contents.error());
  } else {
    cache.lock = session::share_cache(cache.folder, session.report());
  }
  cache.contents = std::move(*contents);
  for (const std::string& reason : cache.contents.left_alone)
    session.report().warn(fmt::format("left alone: {}", reason));
  return cache;
}

struct Tally {
  std::size_t count = 0;
  std::uint64_t bytes = 0;
  std::uint64_t shared = 0;
};

std::map<CacheKind, Tally> tally(const std::vector<CachedThing>& things) {
  std::map<CacheKind, Tally> tallies;
  for (const CachedThing& thing : things) {
    Tally& row = tallies[thing.kind];
    ++row.count;
    row.bytes += thing.bytes;
    row.shared += thing.shared;
  }
  return tallies;
}

std::string render_removal(const session::CacheRemoval& removal, const std::string& folder,
                           bool dry_run) {
  if (removal.removed.empty()) return "nothing to remove\n";
  std::string text;
  for (const auto& [kind, count] : removal.removed)
    text += fmt::format("{:>8}  {}\n", count, session::name_of(kind).name);
  return text + fmt::format("{} {} in {}\n", text::render_bytes(removal.freed),
                            dry_run ? "would be freed" : "freed", folder);
}

ordered_json removal_json(const session::CacheRemoval& removal) {
  ordered_json removed = ordered_json::object();
  for (const CacheKind kind : session::cache_kinds()) {
    const auto found = removal.removed.find(kind);
    removed[session::name_of(kind).key] = found == removal.removed.end() ? 0 : found->second;
  }
  return {{"removed", std::move(removed)}, {"freed_bytes", removal.freed}};
}

/// Removes `things`, and says what was.
int remove(session::Session& session, const OpenedCache& cache,
           const std::vector<CachedThing>& things, Output& output) {
  const bool dry_run = session.arguments().has(session::Opt::dry_run);
  const session::CacheRemoval removal =
      session::remove_things(cache.folder, things, dry_run ? session::Dry::run : session::Dry::no);
  if (!dry_run && !removal.removed.empty()) output.change_was_made();
  const Answer answer{.text =
                          [&] {
                            return output.options().quiet
                                       ? std::string()
                                       : render_removal(removal, cache.folder, dry_run);
                          },
                      .json =
                          [&] {
                            ordered_json out = removal_json(removal);
                            out["dry_run"] = dry_run;
                            return out;
                          }};
  if (removal.error) return output.failure(session::failed(*removal.error).error(), answer);
  if (dry_run) output.note("dry run: nothing was changed");
  return output.answer(answer);
}

}  // namespace

int run_cache_dir(session::Session& session, Output& output) {
  const auto place = place_of(session);
  if (!place) return output.failure(place.error());
  return output.answer({.text = [&] { return *place + "\n"; },
                        .json = [&]() -> ordered_json { return {{"folder", *place}}; }});
}

int run_cache_info(session::Session& session, Output& output) {
  const auto cache = open_cache(session, Purpose::look);
  if (!cache) return output.failure(cache.error());
  const std::string folder = session.cache_place();
  auto tallies = tally(cache->contents.things);
  Tally all;
  for (const auto& [kind, row] : tallies) {
    all.bytes += row.bytes;
    all.count += row.count;
  }
  const std::uint64_t shared = tallies[CacheKind::wheels].shared;
  const auto text = [&] {
    std::string lines = folder + "\n";
    for (const CacheKind kind : session::cache_kinds()) {
      const Tally& row = tallies[kind];
      if (row.count == 0) continue;
      lines += fmt::format("{:>8}  {:<26} {:>9}\n", row.count, session::name_of(kind).name,
                           text::render_bytes(row.bytes));
    }
    lines +=
        fmt::format("{:>8}  {:<26} {:>9}\n", all.count, "in all", text::render_bytes(all.bytes));
    if (shared > 0) {
      lines +=
          fmt::format("environments share {} of the unpacked wheels\n", text::render_bytes(shared));
    }
    return lines;
  };
  const auto json = [&]() -> ordered_json {
    ordered_json rows = ordered_json::array();
    for (const CacheKind kind : session::cache_kinds()) {
      rows.push_back({{"kind", session::name_of(kind).key},
                      {"count", tallies[kind].count},
                      {"bytes", tallies[kind].bytes}});
    }
    return {{"folder", folder},
            {"kinds", std::move(rows)},
            {"bytes", all.bytes},
            {"shared_bytes", shared},
            {"left_alone", cache->contents.left_alone}};
  };
  return output.answer({.text = text, .json = json});
}

int run_cache_verify(session::Session& session, Output& output) {
  const bool fix = session.arguments().has(session::Opt::fix);
  const auto cache = open_cache(session, fix ? Purpose::remove : Purpose::look);
  if (!cache) return output.failure(cache.error());
  const session::CacheCheck check = session::check_things(cache->contents.things);
  session::CacheRemoval removal;
  if (fix) {
    std::vector<CachedThing> damaged;
    for (const session::DamagedThing& one : check.damaged) damaged.push_back(one.thing);
    removal = session::remove_things(cache->folder, damaged, session::Dry::no);
    if (!removal.removed.empty()) output.change_was_made();
  }
  const auto text = [&] {
    std::string lines;
    for (const session::DamagedThing& one : check.damaged) {
      lines += fmt::format("{} is damaged ({})\n", one.what, one.thing.paths.front());
      for (const std::string& fact : one.facts) lines += "  " + fact + "\n";
    }
    const std::size_t bad = check.damaged.size();
    if (output.options().quiet) return lines;
    const std::string compiled =
        check.byte_code == 0 ? "" : fmt::format(" and the byte code of {}", check.byte_code);
    return lines + fmt::format("{} wheel{}{} compared, {} damaged{}\n", check.wheels,
                               check.wheels == 1 ? "" : "s", compiled, bad,
                               bad > 0 && fix && !removal.error ? " and removed" : "");
  };
  const auto json = [&]() -> ordered_json {
    ordered_json rows = ordered_json::array();
    for (const session::DamagedThing& one : check.damaged)
      rows.push_back(
          {{"file", one.what}, {"path", one.thing.paths.front()}, {"faults", one.facts}});
    return {{"wheels", check.wheels},
            {"byte_code", check.byte_code},
            {"damaged", std::move(rows)},
            {"removed", fix && !removal.error}};
  };
  if (removal.error)
    return output.failure(session::failed(*removal.error).error(), {.text = text, .json = json});
  return output.answer({.text = text, .json = json},
                       check.damaged.empty() ? 0 : session::exit_failed);
}

int run_cache_clean(session::Session& session, Output& output) {
  std::set<std::string> names;
  for (const std::string& name : session.arguments().positionals) {
    if (!wheel::is_valid_name(name)) {
      return output.failure(
          session::misused(fmt::format("{} is not a valid name of a package", name)).error());
    }
    names.insert(wheel::normalize_name(name));
  }
  auto cache = open_cache(
      session, session.arguments().has(session::Opt::dry_run) ? Purpose::look : Purpose::remove);
  if (!cache) return output.failure(cache.error());
  std::vector<CachedThing>& things = cache->contents.things;
  if (!names.empty()) {
    std::erase_if(things, [&](const CachedThing& thing) {
      return std::ranges::none_of(thing.packages,
                                  [&](const std::string& name) { return names.contains(name); });
    });
  }
  for (const CachedThing& thing : things) {
    if (thing.linked_from.empty()) continue;
    return output.failure(
        session::failed(
            {ErrorKind::conflict,
             fmt::format("{} has symbolic links to {} in the cache, which would lead nowhere",
                         thing.linked_from.front(), fmt::join(thing.packages, ", ")),
             "uninstall what was installed there with --link-mode symlink, or reinstall it with "
             "another mode; nothing was removed"})
            .error());
  }
  const int code = remove(session, *cache, things, output);
  if (names.empty() && !cache->folder.empty() && !session.arguments().has(session::Opt::dry_run))
    session::remove_empty_folders(cache->folder);
  return code;
}

int run_cache_prune(session::Session& session, Output& output) {
  auto cache = open_cache(
      session, session.arguments().has(session::Opt::dry_run) ? Purpose::look : Purpose::remove);
  if (!cache) return output.failure(cache.error());
  const auto now = std::chrono::duration_cast<std::chrono::seconds>(
                       std::chrono::system_clock::now().time_since_epoch())
                       .count();
  std::erase_if(cache->contents.things,
                [&](const CachedThing& thing) { return !session::is_unused(thing, now); });
  return remove(session, *cache, cache->contents.things, output);
}

}  // namespace axle::cli
