#include "runtime/files/gguf_reader.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "runtime/files/gguf_types.h"

namespace axle::runtime {
namespace {

constexpr std::uint32_t gguf_magic = 0x46554747;  // "GGUF"
constexpr std::uint64_t longest_name = 65535;
constexpr std::uint32_t most_dimensions = 4;
constexpr std::uint64_t largest_alignment = std::uint64_t{1} << 20U;
/// Of tensors, and of metadata values: what is kept of each is larger than what it takes in a file.
constexpr std::uint64_t most_entries = std::uint64_t{1} << 20U;

}  // namespace

Result<void> GgufFile::Reader::read() {
  const Result<void> version = read_version();
  if (!version) return version;
  const auto tensors = take<std::uint64_t>("the number of tensors");
  if (!tensors) return std::unexpected(tensors.error());
  const auto values = take<std::uint64_t>("the number of metadata values");
  if (!values) return std::unexpected(values.error());
  if (*tensors > most_entries || *values > most_entries)
    return failure(AXLE_MALFORMED, "%s: %llu tensors and %llu metadata values make no sense",
                   path(), wide(*tensors), wide(*values));
  for (std::uint64_t i = 0; i < *values; ++i) {
    const Result<void> done = read_value();
    if (!done) return done;
  }
  for (std::uint64_t i = 0; i < *tensors; ++i) {
    const Result<void> done = read_tensor();
    if (!done) return done;
  }
  return place_tensors();
}

Result<void> GgufFile::Reader::read_version() {
  const auto first = take<std::uint32_t>("the magic number");
  if (!first) return std::unexpected(first.error());
  if (*first != gguf_magic)
    return failure(AXLE_MALFORMED, "%s: not a GGUF file: it does not begin with \"GGUF\"", path());
  const auto version = take<std::uint32_t>("the version");
  if (!version) return std::unexpected(version.error());
  if (*version == 2 || *version == 3) return {};
  if ((*version & 0xffffU) == 0 && *version != 0)
    return failure(AXLE_UNSUPPORTED, "%s: big-endian GGUF files are not supported", path());
  return failure(AXLE_UNSUPPORTED, "%s: GGUF version %u is not supported; there are 2 and 3",
                 path(), *version);
}

Result<void> GgufFile::Reader::skip(std::uint64_t bytes, const char* what) {
  if (bytes > whole_.size() - at_)
    return failure(AXLE_MALFORMED,
                   "%s: the file ends in %s, at byte %llu; it is damaged or not complete", path(),
                   what, wide(whole_.size()));
  if (bytes > file_.head_.size() - at_) {
    wanted_ = at_ + bytes;
    return failure(AXLE_MALFORMED, "%s: the head ends in %s", path(), what);
  }
  at_ += static_cast<std::size_t>(bytes);
  return {};
}

template <class T>
Result<T> GgufFile::Reader::take(const char* what) {
  const Result<void> skipped = skip(sizeof(T), what);
  if (!skipped) return std::unexpected(skipped.error());
  return load_unaligned<T>(file_.head_.data() + at_ - sizeof(T));
}

Result<std::string_view> GgufFile::Reader::take_text(const char* what) {
  const auto length = take<std::uint64_t>(what);
  if (!length) return std::unexpected(length.error());
  const char* const start = reinterpret_cast<const char*>(file_.head_.data() + at_);
  const Result<void> skipped = skip(*length, what);
  if (!skipped) return std::unexpected(skipped.error());
  return std::string_view(start, static_cast<std::size_t>(*length));
}

Result<std::string> GgufFile::Reader::take_name(const char* what) {
  const auto text = take_text(what);
  if (!text) return std::unexpected(text.error());
  if (text->size() > longest_name)
    return failure(AXLE_MALFORMED, "%s: %s has %zu bytes; that makes no sense", path(), what,
                   text->size());
  return std::string(*text);
}

Result<void> GgufFile::Reader::skip_elements(std::uint32_t type, std::uint64_t count,
                                             const std::string& key) {
  if (type == gguf_value::string) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const auto text = take_text("a metadata string");
      if (!text) return std::unexpected(text.error());
    }
    return {};
  }
  const std::size_t size = gguf_value_bytes(type);
  if (size == 0)
    return failure(AXLE_UNSUPPORTED, "%s: metadata \"%s\" is of type %u, which is not supported",
                   path(), key.c_str(), type);
  const std::uint64_t bytes = count > UINT64_MAX / size ? UINT64_MAX : count * size;
  return skip(bytes, "a metadata value");
}

Result<void> GgufFile::Reader::read_value() {
  const Result<std::string> key = take_name("the key of a metadata value");
  if (!key) return std::unexpected(key.error());
  auto type = take<std::uint32_t>("the type of a metadata value");
  if (!type) return std::unexpected(type.error());
  const bool is_array = *type == gguf_value::array;
  std::uint64_t count = 1;
  if (is_array) {
    type = take<std::uint32_t>("the type of a metadata array");
    if (!type) return std::unexpected(type.error());
    const auto length = take<std::uint64_t>("the length of a metadata array");
    if (!length) return std::unexpected(length.error());
    count = *length;
  }
  const std::size_t start = at_;
  const Result<void> skipped = skip_elements(*type, count, *key);
  if (!skipped) return skipped;
  const Value value{*type, is_array, count, std::span(file_.head_).subspan(start, at_ - start)};
  if (!file_.values_.emplace(*key, value).second)
    return failure(AXLE_MALFORMED, "%s: metadata \"%s\" is there twice", path(), key->c_str());
  return {};
}

Result<void> GgufFile::Reader::read_shape(Tensor& tensor) {
  const auto dimensions = take<std::uint32_t>("a tensor's number of dimensions");
  if (!dimensions) return std::unexpected(dimensions.error());
  if (*dimensions > most_dimensions)
    return failure(AXLE_MALFORMED, "%s: tensor \"%s\" has %u dimensions; at most %u make sense",
                   path(), tensor.name.c_str(), *dimensions, most_dimensions);
  for (std::uint32_t i = 0; i < *dimensions; ++i) {
    const auto length = take<std::uint64_t>("a tensor's shape");
    if (!length) return std::unexpected(length.error());
    // The file names the innermost dimension first.
    tensor.shape.insert(tensor.shape.begin(), static_cast<std::size_t>(*length));
  }
  return {};
}

Result<void> GgufFile::Reader::read_tensor() {
  Result<std::string> name = take_name("the name of a tensor");
  if (!name) return std::unexpected(name.error());
  Placed placed;
  placed.tensor.name = std::move(*name);
  const Result<void> shape = read_shape(placed.tensor);
  if (!shape) return shape;
  const auto type = take<std::uint32_t>("a tensor's type");
  if (!type) return std::unexpected(type.error());
  const std::optional<TensorType> known = tensor_type_of_ggml(*type);
  if (!known)
    return failure(AXLE_UNSUPPORTED,
                   "%s: tensor \"%s\" is of ggml's type %s (%u), which is not supported; there are "
                   "F32, F16, BF16, F64, Q8_0, Q4_0, Q4_1, Q5_0, Q4_K, Q5_K and Q6_K",
                   path(), placed.tensor.name.c_str(), ggml_type_name(*type), *type);
  placed.tensor.type = *known;
  const auto offset = take<std::uint64_t>("a tensor's offset");
  if (!offset) return std::unexpected(offset.error());
  placed.offset = *offset;
  placed_.push_back(std::move(placed));
  return {};
}

/// Tensors lie behind all that was read, from an aligned place on.
Result<void> GgufFile::Reader::place_tensors() {
  const std::uint64_t alignment =
      file_.has("general.alignment") ? file_.count("general.alignment").value_or(0) : 32;
  if (alignment == 0 || alignment > largest_alignment || (alignment & (alignment - 1)) != 0)
    return failure(AXLE_MALFORMED, "%s: \"general.alignment\" is no power of two up to 2^20",
                   path());
  const std::uint64_t start = (at_ + alignment - 1) / alignment * alignment;
  for (Placed& placed : placed_) {
    const std::optional<std::size_t> bytes = tensor_bytes(placed.tensor.type, placed.tensor.shape);
    const char* const name = placed.tensor.name.c_str();
    if (!bytes)
      return failure(
          AXLE_MALFORMED,
          "%s: tensor \"%s\": its shape is no whole number of blocks of %s, or too large", path(),
          name, row(placed.tensor.type).name);
    if (placed.offset % alignment != 0)
      return failure(AXLE_MALFORMED, "%s: tensor \"%s\" does not lie at a multiple of %llu", path(),
                     name, wide(alignment));
    if (start > whole_.size() || placed.offset > whole_.size() - start ||
        *bytes > whole_.size() - start - placed.offset)
      return failure(AXLE_MALFORMED,
                     "%s: tensor \"%s\" goes on behind the end of the file, at byte %llu; the file "
                     "is damaged or not complete",
                     path(), name, wide(whole_.size()));
    placed.tensor.file = &whole_;
    placed.tensor.at = start + placed.offset;
    placed.tensor.bytes = *bytes;
    const Result<void> added = file_.tensors_.add(placed.tensor);
    if (!added) return added;
  }
  return check_overlaps();
}

Result<void> GgufFile::Reader::check_overlaps() {
  std::sort(placed_.begin(), placed_.end(),
            [](const Placed& a, const Placed& b) { return a.offset < b.offset; });
  const Placed* before = nullptr;
  for (const Placed& placed : placed_) {
    if (placed.tensor.bytes == 0) continue;
    if (before != nullptr && placed.offset - before->offset < before->tensor.bytes)
      return failure(AXLE_MALFORMED, "%s: tensors \"%s\" and \"%s\" lie over one another", path(),
                     before->tensor.name.c_str(), placed.tensor.name.c_str());
    before = &placed;
  }
  return {};
}

}  // namespace axle::runtime
