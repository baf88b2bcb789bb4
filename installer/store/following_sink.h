#pragma once
// A sink whose work is done by a thread of its own, behind whoever gives the bytes.

#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <thread>
#include <vector>

#include "foundation/report/error.h"
#include "wheel/zip/zip_reader.h"

namespace axle::installer {

class FollowingSink {
 public:
  /// Where the system gives no thread, `take` calls `sink`.
  explicit FollowingSink(wheel::ZipReader::Sink sink);
  FollowingSink(const FollowingSink&) = delete;
  FollowingSink& operator=(const FollowingSink&) = delete;
  /// What was not taken up yet is dropped.
  ~FollowingSink();

  /// Waits while much is not done yet. Errors: those of an earlier call of the sink.
  [[nodiscard]] Result<void> take(std::span<const std::byte> bytes);
  /// Waits until all is done. Errors: those of the sink.
  [[nodiscard]] Result<void> finish();

 private:
  using Buffer = std::vector<std::byte>;
  static constexpr std::size_t most_buffers = 8;

  void follow();
  [[nodiscard]] Result<void> outcome() const;

  wheel::ZipReader::Sink sink_;
  std::mutex mutex_;  ///< protects what follows
  std::condition_variable given_;
  std::condition_variable done_;
  std::vector<Buffer> waiting_;  ///< the oldest first
  std::vector<Buffer> free_;
  std::size_t made_ = 0;  ///< buffers
  std::optional<Error> error_;
  std::exception_ptr thrown_;
  bool ending_ = false;
  bool working_ = false;
  std::thread thread_;  ///< the last member: it uses the others
};

}  // namespace axle::installer
