#pragma once
// A wheel that was not received to its end: <store>/partial-<sha256>/ has what was unpacked of it
// (entry/tree) and the log (partial_log.h) by which the next command for the same wheel goes on.
// Locked while a command works in it; another one meanwhile downloads the wheel on its own.

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "foundation/report/error.h"
#include "installer/file_access.h"
#include "installer/store/manifest.h"
#include "installer/store/partial_log.h"
#include "installer/work_folder.h"

namespace axle::installer {

/// Bytes: smaller ones are fetched again.
inline constexpr std::uint64_t least_partial_wheel = 4U << 20;

class PartialWheel {
 public:
  /// New, or as an earlier command left it. `sha256` is what the whole wheel must have, and the
  /// name of the folder; `size` is in bytes. Nullptr: another process has it. Error: io.
  [[nodiscard]] static Result<std::unique_ptr<PartialWheel>> open(const std::string& store,
                                                                  const std::string& sha256,
                                                                  std::uint64_t size,
                                                                  const Manifest& manifest);
  PartialWheel(const PartialWheel&) = delete;
  PartialWheel& operator=(const PartialWheel&) = delete;

  /// There was nothing of an earlier command.
  [[nodiscard]] bool is_new() const { return log_.length == 0; }
  /// What that wrote down.
  [[nodiscard]] const PartialLog& log() const { return log_; }
  [[nodiscard]] const std::string& path() const { return folder_.path(); }
  /// Removes what was unpacked and written down. Error: io.
  [[nodiscard]] Result<void> start_again();

  // Several threads may note something. Where the log cannot be written, less is known later.
  void note_hash(const wheel::Sha256Midpoint& hash);
  void note_done(std::size_t member);
  void note_place(std::size_t member, const wheel::ContentPlace& place);

  /// The folder stays for a later command if that can go on; otherwise it is removed with this
  /// object.
  void keep();
  /// Hands over the folder, with all that is in it.
  [[nodiscard]] WorkFolder take_folder();

 private:
  PartialWheel(WorkFolder folder, std::string sha256, std::uint64_t size)
      : folder_(std::move(folder)), sha256_(std::move(sha256)), size_(size) {}
  [[nodiscard]] Result<bool> read_what_is_left(const Manifest& manifest);
  [[nodiscard]] std::string log_path() const { return folder_.path() + "/log"; }
  void append(const std::string& line, bool write_now);

  WorkFolder folder_;
  std::string sha256_;
  std::uint64_t size_;
  PartialLog log_;
  std::mutex mutex_;  ///< protects what follows
  Descriptor log_file_;
  std::string unwritten_;
  bool has_hash_ = false;  ///< without one nothing can go on
};

/// Removes partial wheels of this user that no command went on with for a week.
void remove_forgotten_partial_wheels(const std::string& store);
/// The wheel is in the store: removes what is left of another attempt, unless it is under way.
void remove_partial_wheel(const std::string& store, const std::string& sha256);

}  // namespace axle::installer
