#include "runtime/files/gguf.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "runtime/files/gguf_reader.h"
#include "runtime/files/gguf_types.h"

namespace axle::runtime {
namespace {

/// Of metadata: those of most models, with their vocabulary.
constexpr std::uint64_t first_head = std::uint64_t{2} << 20U;
constexpr std::uint64_t largest_head = std::uint64_t{256} << 20U;

}  // namespace

Result<GgufFile> GgufFile::open(const std::string& path) {
  Result<ModelFile> file = ModelFile::open(path);
  if (!file) return std::unexpected(file.error());
  return read(std::move(*file));
}

/// How long the metadata are shows itself only while they are read: a part too short is read again,
/// with more.
Result<GgufFile> GgufFile::read(ModelFile opened) {
  auto file = std::make_unique<const ModelFile>(std::move(opened));
  for (std::uint64_t bytes = first_head;;) {
    GgufFile gguf(file->path());
    gguf.head_.resize(static_cast<std::size_t>(std::min(bytes, file->size())));
    const Result<void> there = file->read(0, gguf.head_);
    if (!there) return std::unexpected(there.error());
    Reader reader(gguf, *file);
    const Result<void> read = reader.read();
    if (read) {
      gguf.tensors_.keep(std::move(file));
      return gguf;
    }
    if (reader.wanted() <= gguf.head_.size()) return std::unexpected(read.error());
    if (reader.wanted() > largest_head)
      return failure(AXLE_UNSUPPORTED, "%s: metadata of more than %llu bytes make no sense",
                     file->path().c_str(), static_cast<unsigned long long>(largest_head));
    bytes = std::max(2 * bytes, reader.wanted());
  }
}

const GgufFile::Value* GgufFile::find(const std::string& key, bool is_array) const {
  const auto found = values_.find(key);
  return found == values_.end() || found->second.is_array != is_array ? nullptr : &found->second;
}

std::optional<std::uint64_t> GgufFile::count(const std::string& key) const {
  const Value* const value = find(key, false);
  if (value == nullptr || !is_gguf_integer(value->type)) return std::nullopt;
  const std::int64_t number = load_gguf_integer(value->type, value->bytes.data());
  if (number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

std::optional<double> GgufFile::number(const std::string& key) const {
  const Value* const value = find(key, false);
  if (value == nullptr) return std::nullopt;
  if (value->type == gguf_value::float32)
    return static_cast<double>(load_unaligned<float>(value->bytes.data()));
  if (value->type == gguf_value::float64) return load_unaligned<double>(value->bytes.data());
  if (!is_gguf_integer(value->type)) return std::nullopt;
  return static_cast<double>(load_gguf_integer(value->type, value->bytes.data()));
}

std::optional<bool> GgufFile::flag(const std::string& key) const {
  const Value* const value = find(key, false);
  if (value == nullptr || value->type != gguf_value::boolean) return std::nullopt;
  return value->bytes[0] != std::byte{0};
}

std::optional<std::string_view> GgufFile::text(const std::string& key) const {
  const Value* const value = find(key, false);
  if (value == nullptr || value->type != gguf_value::string) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(value->bytes.data()) + 8,
                          value->bytes.size() - 8);
}

std::optional<std::vector<std::string_view>> GgufFile::texts(const std::string& key) const {
  const Value* const value = find(key, true);
  if (value == nullptr || value->type != gguf_value::string) return std::nullopt;
  std::vector<std::string_view> result;
  result.reserve(static_cast<std::size_t>(value->count));
  const std::byte* at = value->bytes.data();
  for (std::uint64_t i = 0; i < value->count; ++i) {
    const std::size_t length = static_cast<std::size_t>(load_unaligned<std::uint64_t>(at));
    result.emplace_back(reinterpret_cast<const char*>(at) + 8, length);
    at += 8 + length;
  }
  return result;
}

std::optional<std::vector<std::int64_t>> GgufFile::integers(const std::string& key) const {
  const Value* const value = find(key, true);
  if (value == nullptr || !is_gguf_integer(value->type)) return std::nullopt;
  std::vector<std::int64_t> result;
  result.reserve(static_cast<std::size_t>(value->count));
  const std::size_t size = gguf_value_bytes(value->type);
  for (std::size_t i = 0; i < value->count; ++i)
    result.push_back(load_gguf_integer(value->type, value->bytes.data() + i * size));
  return result;
}

std::optional<std::vector<float>> GgufFile::floats(const std::string& key) const {
  const Value* const value = find(key, true);
  if (value == nullptr || value->type != gguf_value::float32) return std::nullopt;
  std::vector<float> result(static_cast<std::size_t>(value->count));
  if (!result.empty()) std::memcpy(result.data(), value->bytes.data(), value->bytes.size());
  return result;
}

}  // namespace axle::runtime
