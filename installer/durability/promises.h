#pragma once
// What several changes promise together: later ones replace and remove what earlier ones added.

#include <cstddef>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "installer/durability/unflushed_change.h"

namespace axle::installer {

/// A file that must be there, and by which change and package.
struct Promise {
  std::size_t change = 0;
  std::size_t package = 0;
  const PromisedFile* file = nullptr;
};

class Promises {
 public:
  /// `changes` in their order.
  explicit Promises(const std::vector<UnflushedChange>& changes);

  /// By path.
  [[nodiscard]] const std::map<std::string, Promise, std::less<>>& files() const { return files_; }
  /// No later change removed or replaced the package.
  [[nodiscard]] bool is_there(std::size_t change, std::size_t package) const {
    return there_[change][package];
  }

 private:
  std::deque<std::vector<PromisedFile>> all_;  ///< of each package
  std::vector<std::vector<bool>> there_;
  std::map<std::string, Promise, std::less<>> files_;
};

}  // namespace axle::installer
