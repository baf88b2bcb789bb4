#pragma once
// GGUF files, versions 2 and 3 (ggml's docs/gguf.md): metadata, which is in memory, and tensors,
// which are left in the file.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "runtime/files/model_file.h"
#include "runtime/files/tensor_source.h"
#include "runtime/result.h"

namespace axle::runtime {

class GgufFile {
 public:
  /// Every length and offset is checked here. AXLE_UNSUPPORTED for another version or a tensor of a
  /// type that is not read, by its name. Texts and names may be any bytes.
  [[nodiscard]] static Result<GgufFile> open(const std::string& path);
  [[nodiscard]] static Result<GgufFile> read(ModelFile file);

  [[nodiscard]] const TensorSource& tensors() const { return tensors_; }
  [[nodiscard]] const std::string& path() const { return tensors_.where(); }

  /// Metadata by key; nothing if the key is absent or its value is of another kind.
  [[nodiscard]] std::optional<std::uint64_t> count(const std::string& key) const;
  [[nodiscard]] std::optional<double> number(const std::string& key) const;
  [[nodiscard]] std::optional<bool> flag(const std::string& key) const;
  [[nodiscard]] std::optional<std::string_view> text(const std::string& key) const;
  [[nodiscard]] std::optional<std::vector<std::string_view>> texts(const std::string& key) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> integers(const std::string& key) const;
  [[nodiscard]] std::optional<std::vector<float>> floats(const std::string& key) const;

  [[nodiscard]] bool has(const std::string& key) const { return values_.contains(key); }

 private:
  class Reader;

  /// Types of values by gguf.md's numbers.
  struct Value {
    std::uint32_t type;  ///< of the elements, where it is an array
    bool is_array;
    std::uint64_t count;  ///< of elements
    std::span<const std::byte> bytes;
  };

  explicit GgufFile(const std::string& path) : tensors_(path) {}

  [[nodiscard]] const Value* find(const std::string& key, bool is_array) const;

  std::vector<std::byte> head_;  ///< where the values lie
  std::unordered_map<std::string, Value> values_;
  TensorSource tensors_;
};

}  // namespace axle::runtime
