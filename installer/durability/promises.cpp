#include "installer/durability/promises.h"

#include <ranges>

namespace axle::installer {
namespace {

using Candidates = std::map<std::string, std::vector<Promise>, std::less<>>;

/// What is at `thing` or below it was taken away.
void take_away(Candidates& candidates, const std::string& thing) {
  candidates.erase(thing);
  const auto end = candidates.lower_bound(thing + '0');  // the character after '/'
  candidates.erase(candidates.lower_bound(thing + '/'), end);
}

bool is_below(std::string_view path, std::string_view thing) {
  return path.starts_with(thing) && (path.size() == thing.size() || path[thing.size()] == '/');
}

}  // namespace

Promises::Promises(const std::vector<UnflushedChange>& changes) {
  Candidates candidates;
  std::map<std::string, std::pair<std::size_t, std::size_t>, std::less<>> metadata;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    for (const LeavingThing& thing : changes[i].leaving) {
      take_away(candidates, thing.path);
      std::erase_if(metadata, [&](const auto& one) {
        if (!is_below(one.first, thing.path)) return false;
        there_[one.second.first][one.second.second] = false;
        return true;
      });
    }
    there_.emplace_back(changes[i].packages.size(), true);
    for (std::size_t j = 0; j < changes[i].packages.size(); ++j) {
      const PromisedPackage& package = changes[i].packages[j];
      if (const auto older = metadata.find(package.dist_info); older != metadata.end())
        there_[older->second.first][older->second.second] = false;
      metadata.insert_or_assign(package.dist_info, std::pair(i, j));
      // What was read can be read again.
      all_.push_back(all_files(package).value_or(package.files));
      for (const PromisedFile& file : all_.back()) candidates[file.path].push_back({i, j, &file});
    }
  }
  for (const auto& [path, promises] : candidates) {
    // A file that packages share stays until the last of them leaves.
    for (const Promise& promise : promises | std::views::reverse) {
      if (!there_[promise.change][promise.package]) continue;
      files_.emplace(path, promise);
      break;
    }
  }
}

}  // namespace axle::installer
