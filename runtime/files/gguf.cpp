#include "runtime/files/gguf.h"

#include <algorithm>
#include <cstring>

namespace axle::runtime {
namespace {

constexpr std::uint32_t magic = 0x46554747;  // "GGUF"
constexpr std::uint64_t longest_name = 65535;
constexpr std::uint32_t most_dimensions = 4;

enum : std::uint32_t {
  uint8 = 0,
  int8 = 1,
  uint16 = 2,
  int16 = 3,
  uint32 = 4,
  int32 = 5,
  float32 = 6,
  boolean = 7,
  string = 8,
  array = 9,
  uint64 = 10,
  int64 = 11,
  float64 = 12
};

/// Bytes of one value; 0 for those of no fixed size, and for unknown types.
std::size_t value_bytes(std::uint32_t type) {
  switch (type) {
    case uint8:
    case int8:
    case boolean:
      return 1;
    case uint16:
    case int16:
      return 2;
    case uint32:
    case int32:
    case float32:
      return 4;
    case uint64:
    case int64:
    case float64:
      return 8;
    default:
      return 0;
  }
}

struct GgmlType {
  std::uint32_t number;
  TensorType type;
};

/// ggml's numbers of the types that are read.
constexpr GgmlType ggml_types[] = {
    {0, TensorType::float32},  {1, TensorType::float16},  {2, TensorType::q4_0},
    {3, TensorType::q4_1},     {6, TensorType::q5_0},     {8, TensorType::q8_0},
    {12, TensorType::q4_k},    {13, TensorType::q5_k},    {14, TensorType::q6_k},
    {28, TensorType::float64}, {30, TensorType::bfloat16}};

template <class T>
T load(const std::byte* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

/// A value of a fixed size and integer type.
std::int64_t load_integer(std::uint32_t type, const std::byte* from) {
  switch (type) {
    case uint8:
    case boolean:
      return load<std::uint8_t>(from);
    case int8:
      return load<std::int8_t>(from);
    case uint16:
      return load<std::uint16_t>(from);
    case int16:
      return load<std::int16_t>(from);
    case uint32:
      return load<std::uint32_t>(from);
    case int32:
      return load<std::int32_t>(from);
    default:
      return load<std::int64_t>(from);
  }
}

bool is_integer(std::uint32_t type) {
  return value_bytes(type) > 0 && type != float32 && type != float64 && type != boolean;
}

}  // namespace

/// Walks over the file; what does not fit is an error with its place.
class GgufFile::Reader {
 public:
  Reader(GgufFile& file) : file_(file), bytes_(file.file_.bytes()) {}

  Result<void> read() {
    const auto first = take<std::uint32_t>("the magic number");
    if (!first) return std::unexpected(first.error());
    if (*first != magic)
      return failure(AXLE_MALFORMED, "%s: not a GGUF file: it does not begin with \"GGUF\"",
                     path());
    const auto version = take<std::uint32_t>("the version");
    if (!version) return std::unexpected(version.error());
    if (*version != 2 && *version != 3)
      return failure(AXLE_UNSUPPORTED, "%s: GGUF version %u is not supported; there are 2 and 3",
                     path(), *version);
    const auto tensors = take<std::uint64_t>("the number of tensors");
    if (!tensors) return std::unexpected(tensors.error());
    const auto values = take<std::uint64_t>("the number of metadata values");
    if (!values) return std::unexpected(values.error());
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

 private:
  struct Placed {
    Tensor tensor;
    std::uint64_t offset;
  };

  [[nodiscard]] const char* path() const { return file_.path().c_str(); }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - at_; }

  std::unexpected<Failure> cut_short(const char* what) const {
    return failure(AXLE_MALFORMED,
                   "%s: the file ends in %s, at byte %zu; it is damaged or not complete", path(),
                   what, bytes_.size());
  }

  template <class T>
  Result<T> take(const char* what) {
    if (left() < sizeof(T)) return cut_short(what);
    at_ += sizeof(T);
    return load<T>(bytes_.data() + at_ - sizeof(T));
  }

  Result<std::string_view> take_text(const char* what) {
    const auto length = take<std::uint64_t>(what);
    if (!length) return std::unexpected(length.error());
    if (*length > left()) return cut_short(what);
    const char* const start = reinterpret_cast<const char*>(bytes_.data() + at_);
    at_ += static_cast<std::size_t>(*length);
    return std::string_view(start, static_cast<std::size_t>(*length));
  }

  Result<void> skip_elements(std::uint32_t type, std::uint64_t count, const std::string& key) {
    if (type == string) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const auto text = take_text("a metadata string");
        if (!text) return std::unexpected(text.error());
      }
      return {};
    }
    const std::size_t size = value_bytes(type);
    if (size == 0)
      return failure(AXLE_UNSUPPORTED, "%s: metadata \"%s\" is of type %u, which is not supported",
                     path(), key.c_str(), type);
    if (count > left() / size) return cut_short("a metadata value");
    at_ += static_cast<std::size_t>(count) * size;
    return {};
  }

  Result<void> read_value() {
    const auto key = take_text("the key of a metadata value");
    if (!key) return std::unexpected(key.error());
    if (key->size() > longest_name)
      return failure(AXLE_MALFORMED, "%s: a metadata key of %zu bytes", path(), key->size());
    auto type = take<std::uint32_t>("the type of a metadata value");
    if (!type) return std::unexpected(type.error());
    const bool is_array = *type == array;
    std::uint64_t count = 1;
    if (is_array) {
      type = take<std::uint32_t>("the type of a metadata array");
      if (!type) return std::unexpected(type.error());
      const auto length = take<std::uint64_t>("the length of a metadata array");
      if (!length) return std::unexpected(length.error());
      count = *length;
    }
    const std::string name(*key);
    const std::size_t start = at_;
    const Result<void> skipped = skip_elements(*type, count, name);
    if (!skipped) return skipped;
    const Value value{*type, is_array, count, bytes_.subspan(start, at_ - start)};
    if (!file_.values_.emplace(name, value).second)
      return failure(AXLE_MALFORMED, "%s: metadata \"%s\" is there twice", path(), name.c_str());
    return {};
  }

  Result<void> read_tensor() {
    const auto name = take_text("the name of a tensor");
    if (!name) return std::unexpected(name.error());
    if (name->size() > longest_name)
      return failure(AXLE_MALFORMED, "%s: the name of a tensor has %zu bytes", path(),
                     name->size());
    Placed placed{.tensor = {.name = std::string(*name), .type = {}, .shape = {}, .data = {}},
                  .offset = 0};
    const auto dimensions = take<std::uint32_t>("a tensor's number of dimensions");
    if (!dimensions) return std::unexpected(dimensions.error());
    if (*dimensions > most_dimensions)
      return failure(AXLE_MALFORMED, "%s: tensor \"%s\" has %u dimensions; at most %u make sense",
                     path(), placed.tensor.name.c_str(), *dimensions, most_dimensions);
    for (std::uint32_t i = 0; i < *dimensions; ++i) {
      const auto length = take<std::uint64_t>("a tensor's shape");
      if (!length) return std::unexpected(length.error());
      // The file names the innermost dimension first.
      placed.tensor.shape.insert(placed.tensor.shape.begin(), static_cast<std::size_t>(*length));
    }
    const auto type = take<std::uint32_t>("a tensor's type");
    if (!type) return std::unexpected(type.error());
    const auto* const known =
        std::find_if(std::begin(ggml_types), std::end(ggml_types),
                     [&](const GgmlType& one) { return one.number == *type; });
    if (known == std::end(ggml_types))
      return failure(
          AXLE_UNSUPPORTED,
          "%s: tensor \"%s\" is of ggml's type %u, which is not supported; there are F32, "
          "F16, BF16, F64, Q8_0, Q4_0, Q4_1, Q5_0, Q4_K, Q5_K and Q6_K",
          path(), placed.tensor.name.c_str(), *type);
    placed.tensor.type = known->type;
    const auto offset = take<std::uint64_t>("a tensor's offset");
    if (!offset) return std::unexpected(offset.error());
    placed.offset = *offset;
    placed_.push_back(std::move(placed));
    return {};
  }

  /// Tensors lie behind all that was read, from an aligned place on.
  Result<void> place_tensors() {
    const std::uint64_t alignment = file_.count("general.alignment").value_or(32);
    if (alignment == 0 || alignment > (1U << 20U) || (alignment & (alignment - 1)) != 0)
      return failure(AXLE_MALFORMED, "%s: an alignment of %llu is no power of two up to 2^20",
                     path(), static_cast<unsigned long long>(alignment));
    const std::uint64_t start = (at_ + alignment - 1) / alignment * alignment;
    for (Placed& placed : placed_) {
      const std::optional<std::size_t> bytes =
          tensor_bytes(placed.tensor.type, placed.tensor.shape);
      const char* const name = placed.tensor.name.c_str();
      if (!bytes)
        return failure(
            AXLE_MALFORMED,
            "%s: tensor \"%s\": its shape is no whole number of blocks of %s, or too large", path(),
            name, row(placed.tensor.type).name);
      if (placed.offset % alignment != 0)
        return failure(AXLE_MALFORMED, "%s: tensor \"%s\" does not lie at a multiple of %llu",
                       path(), name, static_cast<unsigned long long>(alignment));
      if (start > bytes_.size() || placed.offset > bytes_.size() - start ||
          *bytes > bytes_.size() - start - placed.offset)
        return failure(
            AXLE_MALFORMED,
            "%s: tensor \"%s\" goes on behind the end of the file, at byte %zu; the file "
            "is damaged or not complete",
            path(), name, bytes_.size());
      placed.tensor.data = bytes_.subspan(static_cast<std::size_t>(start + placed.offset), *bytes);
      const Result<void> added = file_.tensors_.add(std::move(placed.tensor));
      if (!added) return added;
    }
    return {};
  }

  GgufFile& file_;
  std::span<const std::byte> bytes_;
  std::size_t at_ = 0;
  std::vector<Placed> placed_;
};

Result<GgufFile> GgufFile::open(const std::string& path) {
  Result<MappedFile> mapped = MappedFile::open(path);
  if (!mapped) return std::unexpected(mapped.error());
  GgufFile file(std::move(*mapped), path);
  const Result<void> read = Reader(file).read();
  if (!read) return std::unexpected(read.error());
  return file;
}

const GgufFile::Value* GgufFile::find(const std::string& key, bool is_array) const {
  const auto found = values_.find(key);
  return found == values_.end() || found->second.is_array != is_array ? nullptr : &found->second;
}

std::optional<std::uint64_t> GgufFile::count(const std::string& key) const {
  const Value* const value = find(key, false);
  if (value == nullptr || !is_integer(value->type)) return std::nullopt;
  const std::int64_t number = load_integer(value->type, value->bytes.data());
  if (number < 0) return std::nullopt;
  return static_cast<std::uint64_t>(number);
}

std::optional<double> GgufFile::number(const std::string& key) const {
  const Value* const value = find(key, false);
  if (value == nullptr) return std::nullopt;
  if (value->type == float32) return static_cast<double>(load<float>(value->bytes.data()));
  if (value->type == float64) return load<double>(value->bytes.data());
  if (!is_integer(value->type)) return std::nullopt;
  return static_cast<double>(load_integer(value->type, value->bytes.data()));
}

std::optional<bool> GgufFile::flag(const std::string& key) const {
  const Value* const value = find(key, false);
  if (value == nullptr || value->type != boolean) return std::nullopt;
  return value->bytes[0] != std::byte{0};
}

std::optional<std::string_view> GgufFile::text(const std::string& key) const {
  const Value* const value = find(key, false);
  if (value == nullptr || value->type != string) return std::nullopt;
  return std::string_view(reinterpret_cast<const char*>(value->bytes.data()) + 8,
                          value->bytes.size() - 8);
}

std::optional<std::vector<std::string_view>> GgufFile::texts(const std::string& key) const {
  const Value* const value = find(key, true);
  if (value == nullptr || value->type != string) return std::nullopt;
  std::vector<std::string_view> result;
  result.reserve(static_cast<std::size_t>(value->count));
  const std::byte* at = value->bytes.data();
  for (std::uint64_t i = 0; i < value->count; ++i) {
    const std::size_t length = static_cast<std::size_t>(load<std::uint64_t>(at));
    result.emplace_back(reinterpret_cast<const char*>(at) + 8, length);
    at += 8 + length;
  }
  return result;
}

std::optional<std::vector<std::int64_t>> GgufFile::integers(const std::string& key) const {
  const Value* const value = find(key, true);
  if (value == nullptr || !is_integer(value->type)) return std::nullopt;
  std::vector<std::int64_t> result;
  result.reserve(static_cast<std::size_t>(value->count));
  const std::size_t size = value_bytes(value->type);
  for (std::size_t i = 0; i < value->count; ++i)
    result.push_back(load_integer(value->type, value->bytes.data() + i * size));
  return result;
}

std::optional<std::vector<float>> GgufFile::floats(const std::string& key) const {
  const Value* const value = find(key, true);
  if (value == nullptr || value->type != float32) return std::nullopt;
  std::vector<float> result(static_cast<std::size_t>(value->count));
  if (!result.empty()) std::memcpy(result.data(), value->bytes.data(), value->bytes.size());
  return result;
}

}  // namespace axle::runtime
