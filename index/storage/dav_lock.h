#pragma once
// The lock that whoever changes an index on a WebDAV server holds. It keeps off other publishers,
// not other programs, and lies on a name of its own, not on what is changed.

#include <atomic>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "foundation/report/error.h"
#include "index/storage/dav_client.h"

namespace axle::index {

class DavLock {
 public:
  /// Waits for another publisher, longer than a lock lasts whose holder was killed. `client` must
  /// outlive it. Errors: unsupported (the server has no locks), io (also if it took too long).
  [[nodiscard]] static Result<std::unique_ptr<DavLock>> take(DavClient& client, std::string path);
  DavLock(const DavLock&) = delete;
  DavLock& operator=(const DavLock&) = delete;
  ~DavLock();  ///< gives it back

  /// Asks the server. What was done before, while it held, nobody else has come between.
  [[nodiscard]] bool still_holds();

 private:
  DavLock(DavClient& client, std::string path, std::string token);
  void keep();

  DavClient& client_;
  std::string path_;
  std::string token_;
  std::atomic<bool> lost_ = false;
  std::mutex mutex_;  ///< protects `ended_`
  std::condition_variable end_;
  bool ended_ = false;
  std::thread keeper_;
};

}  // namespace axle::index
