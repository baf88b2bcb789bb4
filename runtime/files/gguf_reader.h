#pragma once
// Reads the head of a GGUF file: metadata, then descriptions of tensors. Private to gguf.cpp.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/gguf.h"

namespace axle::runtime {

/// Walks over the head; what does not fit is an error with its place.
class GgufFile::Reader {
 public:
  /// `file`'s head is what is read; its tensors lie in `whole`.
  Reader(GgufFile& file, const ModelFile& whole) : file_(file), whole_(whole) {}

  Result<void> read();

  /// After a failure: more than the head has if that was all that was wrong.
  [[nodiscard]] std::uint64_t wanted() const { return wanted_; }

 private:
  struct Placed {
    Tensor tensor;
    std::uint64_t offset = 0;  ///< from the first tensor on
  };

  [[nodiscard]] const char* path() const { return file_.path().c_str(); }
  /// Moves over `bytes` of the file, or fails if they are not there.
  Result<void> skip(std::uint64_t bytes, const char* what);

  template <class T>
  Result<T> take(const char* what);
  Result<std::string_view> take_text(const char* what);
  Result<std::string> take_name(const char* what);

  Result<void> read_version();
  Result<void> skip_elements(std::uint32_t type, std::uint64_t count, const std::string& key);
  Result<void> read_value();
  Result<void> read_shape(Tensor& tensor);
  Result<void> read_tensor();
  Result<void> place_tensors();
  Result<void> check_overlaps();

  GgufFile& file_;
  const ModelFile& whole_;
  std::uint64_t wanted_ = 0;
  std::size_t at_ = 0;
  std::vector<Placed> placed_;
};

}  // namespace axle::runtime
