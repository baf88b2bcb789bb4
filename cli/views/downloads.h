#pragma once
// The downloads of a command, taken together: what one line says of all of them.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "foundation/report/report.h"

namespace axle::cli {

class Downloads {
 public:
  /// What is to come; `bytes` 0: not known.
  void expect(std::size_t files, std::uint64_t bytes);
  void note(const Download& download);

  /// More than one file is expected or has begun.
  [[nodiscard]] bool are_several() const;
  [[nodiscard]] bool are_under_way() const;
  /// "downloading 3 of 14 files", of which three are complete.
  [[nodiscard]] std::string name() const;
  /// Received so far, and in all; 0: not known.
  [[nodiscard]] std::uint64_t bytes() const;
  [[nodiscard]] std::uint64_t total() const;
  /// Of the files that came completely.
  [[nodiscard]] std::uint64_t complete_bytes() const;

 private:
  struct File {
    std::uint64_t bytes = 0;
    std::uint64_t total = 0;
    bool under_way = true;
    bool complete = false;
  };
  [[nodiscard]] std::size_t complete_files() const;
  [[nodiscard]] std::size_t all_files() const;

  std::map<std::string, File, std::less<>> files_;
  std::size_t expected_files_ = 0;
  std::uint64_t expected_bytes_ = 0;
};

}  // namespace axle::cli
