#pragma once
// What a thread does while it waits for an answer: it may look at others that have come meanwhile.

#include <functional>

namespace axle::index {

/// As long as this lives, `work` is called by this thread whenever it waits for a request and
/// another one has been answered. Not while `work` runs. Empty: nothing is done, also where an
/// outer one would be.
class WhileWaiting {
 public:
  explicit WhileWaiting(std::function<void()> work);
  ~WhileWaiting();
  WhileWaiting(const WhileWaiting&) = delete;
  WhileWaiting& operator=(const WhileWaiting&) = delete;

  /// False: there is nothing to do.
  static bool wanted();
  static void work();

 private:
  std::function<void()> work_;
  WhileWaiting* outer_;
};

}  // namespace axle::index
