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

/// Walks over the file; what does not fit is an error with its place.
class GgufFile::Reader {
 public:
  Reader(GgufFile& file, std::span<const std::byte> bytes) : file_(file), bytes_(bytes) {}

  Result<void> read();

 private:
  struct Placed {
    Tensor tensor;
    std::uint64_t offset = 0;  ///< from the first tensor on
  };

  [[nodiscard]] const char* path() const { return file_.path().c_str(); }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }
  [[nodiscard]] std::unexpected<Failure> cut_short(const char* what) const;

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
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::vector<Placed> placed_;
};

}  // namespace axle::runtime
