#pragma once
// Model files put together byte by byte, whole or hostile, and a folder for them.

#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/files/tensor.h"

namespace axle::runtime::testing {

/// A temporary folder, removed with what is in it.
class Folder {
 public:
  Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder();

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] std::string at(const std::string& name) const { return path_ + "/" + name; }
  /// The path of the written file.
  std::string write(const std::string& name, std::string_view bytes) const;
  [[nodiscard]] std::string read(const std::string& name) const;
  [[nodiscard]] std::vector<std::string> names() const;  ///< sorted

 private:
  std::string path_;
};

/// A value as its bytes, little-endian.
template <class T>
std::string raw(T value) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Length, header, data.
inline std::string safetensors(std::string_view header, std::string_view data = {}) {
  return raw(std::uint64_t{header.size()}) + std::string(header) + std::string(data);
}

inline std::span<const std::byte> bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

/// Its bytes.
std::string text_of(const Tensor& tensor);

/// A GGUF file with one thing after the other; `tensors` and `values` are what the head claims.
struct GgufParts {
  std::string magic = "GGUF";
  std::uint32_t version = 3;
  std::vector<std::string> values;
  std::vector<std::string> tensors;
  std::uint64_t claimed_values = UINT64_MAX;   ///< else as many as there are
  std::uint64_t claimed_tensors = UINT64_MAX;  ///< likewise
  std::size_t alignment = 32;
  std::string data;

  [[nodiscard]] std::string bytes() const;
};

std::string gguf_text(std::string_view text);
std::string gguf_value(std::string_view key, std::uint32_t type, std::string_view bytes);
std::string gguf_array(std::string_view key, std::uint32_t type, std::uint64_t count,
                       std::string_view bytes);
/// `lengths` innermost first, as the file has them.
std::string gguf_tensor(std::string_view name, const std::vector<std::uint64_t>& lengths,
                        std::uint32_t type, std::uint64_t offset);

}  // namespace axle::runtime::testing
