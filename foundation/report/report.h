#pragma once
// Receives messages that are not errors. A function that can succeed with a warning takes a
// Report&; it never prints. cli/ shows the messages, tests collect them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace axle {

/// `detail`: how an answer was found, for --verbose.
enum class Severity : std::uint8_t { detail, note, warning };

struct Remark {
  Severity severity;
  std::string message;
  std::string hint = {};
  std::string path = {};  ///< the file or folder concerned; empty: none
};

/// A file that is downloaded.
struct Download {
  enum class Stage : std::uint8_t { begins, goes_on, ended, failed };
  Stage stage;
  std::string_view file;
  std::uint64_t bytes;  ///< received so far
  std::uint64_t total;  ///< 0 while unknown
};

/// How far something is.
struct Work {
  std::string_view what;
  std::uint64_t done;
  std::uint64_t total;    ///< 0 while unknown
  bool in_bytes = false;  ///< else in files, steps …
};

class Report {
 public:
  Report() = default;
  Report(const Report&) = delete;
  Report& operator=(const Report&) = delete;
  virtual ~Report() = default;

  virtual void add(Remark remark) = 0;

  /// Called often: implementations throttle.
  virtual void progress(const Work& work) = 0;

  /// Called as often. Unless overridden it is progress like any other.
  virtual void download(const Download& download) {
    const std::string what = "downloading " + std::string(download.file);
    progress({what, download.bytes, download.total, true});
  }

  void detail(std::string message) { add({Severity::detail, std::move(message)}); }
  void note(std::string message) { add({Severity::note, std::move(message)}); }
  void warn(std::string message, std::string hint = {}, std::string path = {}) {
    add({Severity::warning, std::move(message), std::move(hint), std::move(path)});
  }
};

/// Keeps notes and warnings, drops details and progress.
class CollectedReport final : public Report {
 public:
  void add(Remark remark) override {
    if (remark.severity != Severity::detail) remarks.push_back(std::move(remark));
  }
  void progress(const Work&) override {}
  void download(const Download&) override {}

  std::vector<Remark> remarks;
};

}  // namespace axle
