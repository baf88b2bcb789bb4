#include "installer/transaction/promised.h"

#include <algorithm>

namespace axle::installer {

UnflushedChange promise_of(const Journal& journal, std::vector<NewPackage> entering,
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
    PromisedPackage promised{std::move(package.origin), below_base(package.dist_info), {}};
    promised.files.reserve(package.files.size());
    for (NewFile& file : package.files) {
      if (file.byte_code) continue;  // it is removed after a power failure, and compiled again
      promised.files.push_back({below_base(file.target), std::move(file.stored),
                                std::move(file.content), file.executable, std::move(file.sha256),
                                file.size});
    }
    change.packages.push_back(std::move(promised));
  }
  return change;
}

}  // namespace axle::installer
