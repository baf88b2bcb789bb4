#include "installer/transaction/promised.h"

#include <algorithm>

namespace axle::installer {
namespace {

/// Whether RECORD says all of `file`: it lies in `site`, which ends with '/', as in the wheel.
bool says_record(const NewFile& file, std::string_view site) {
  return !file.stored.empty() && !file.executable && !file.sha256.empty() &&
         file.target.size() == site.size() + file.stored.size() && file.target.starts_with(site) &&
         file.target.ends_with(file.stored);
}

}  // namespace

UnflushedChange promise_of(const Journal& journal, std::vector<NewPackage>& entering,
                           const std::string& base, const std::string& store) {
  UnflushedChange change;
  change.title = journal.title;
  change.store = store;
  for (const Move& move : journal.moves) {
    if (move.direction == Direction::out) {
      change.leaving.push_back({move.path, move.leaves});
      continue;
    }
    for (const Leaf& leaf : move.leaves) change.latest = std::max(change.latest, leaf.modified);
  }
  const auto below_base = [&](std::string& path) {
    path.erase(0, base.size() + 1);
    return std::move(path);
  };
  for (NewPackage& package : entering) {
    const std::string site = package.dist_info.substr(0, package.dist_info.rfind('/') + 1);
    PromisedPackage promised{std::move(package.origin), below_base(package.dist_info), {}};
    for (NewFile& file : package.files) {
      if (file.byte_code) continue;  // it is removed after a power failure, and compiled again
      if (says_record(file, site)) continue;
      promised.files.push_back({below_base(file.target), std::move(file.stored),
                                std::move(file.content), file.executable, std::move(file.sha256),
                                file.size});
    }
    change.packages.push_back(std::move(promised));
  }
  return change;
}

}  // namespace axle::installer
