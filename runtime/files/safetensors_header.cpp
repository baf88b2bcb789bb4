#include "runtime/files/safetensors_header.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <unordered_set>
#include <utility>

#include "runtime/files/json_events.h"

namespace axle::runtime {
namespace {

constexpr std::size_t most_lengths = 8;

struct StoredType {
  const char* name;
  TensorType type;
};

constexpr StoredType stored_types[] = {{"F64", TensorType::float64},
                                       {"F32", TensorType::float32},
                                       {"F16", TensorType::float16},
                                       {"BF16", TensorType::bfloat16},
                                       {"F8_E4M3", TensorType::float8_e4m3},
                                       {"I64", TensorType::int64},
                                       {"I32", TensorType::int32},
                                       {"I16", TensorType::int16},
                                       {"I8", TensorType::int8},
                                       {"U8", TensorType::uint8},
                                       {"BOOL", TensorType::boolean}};

/// {"__metadata__": {key: text, …}, tensor: {"dtype": …, "shape": […], "data_offsets": [a, b]}, …}
class HeaderEvents final : public JsonEvents {
 public:
  bool start_object() override {
    if (at_ == At::start) return go(At::tensors);
    if (at_ != At::tensors) return unwanted();
    return go(is_metadata_ ? At::metadata : At::entry);
  }

  bool key(std::string& key) override {
    if (at_ == At::tensors) return begin_tensor(std::move(key));
    if (at_ == At::metadata) {
      if (header_.metadata.contains(key))
        return stop(
            failure(AXLE_MALFORMED, "%s: metadata \"%s\" is there twice", where(), key.c_str()));
      metadata_key_ = std::move(key);
      return true;
    }
    const auto* const field = std::find(std::begin(fields), std::end(fields), key);
    if (field == std::end(fields))
      return complain("its entry has a field that the format does not have");
    field_ = static_cast<Field>(field - std::begin(fields));
    if (std::exchange(seen_[field_], true)) return complain("a field of its entry is there twice");
    return true;
  }

  bool string(std::string& text) override {
    if (at_ == At::metadata) {
      header_.metadata.emplace(std::move(metadata_key_), std::move(text));
      return true;
    }
    if (at_ != At::entry || field_ != dtype) return unwanted();
    const auto* const type = std::find_if(std::begin(stored_types), std::end(stored_types),
                                          [&](const StoredType& one) { return text == one.name; });
    if (type == std::end(stored_types))
      return stop(failure(AXLE_UNSUPPORTED,
                          "%s: tensor \"%s\" is of type \"%.40s\", which is not supported", where(),
                          placed_.tensor.name.c_str(), text.c_str()));
    placed_.tensor.type = type->type;
    return true;
  }

  bool start_array() override {
    if (at_ != At::entry || field_ == dtype) return unwanted();
    return go(At::list);
  }

  bool whole_number(std::uint64_t number) override {
    if (at_ != At::list) return unwanted();
    if (field_ == shape) {
      if (placed_.tensor.shape.size() == most_lengths)
        return complain("its shape has more than 8 lengths");
      placed_.tensor.shape.push_back(static_cast<std::size_t>(number));
      return true;
    }
    if (places_ == 2) return complain("its data_offsets are not two places");
    (places_++ == 0 ? placed_.begin : placed_.end) = number;
    return true;
  }

  bool end_array() override { return go(At::entry); }

  bool end_object() override {
    if (at_ == At::entry) return end_tensor();
    return go(at_ == At::metadata ? At::tensors : At::end);
  }

  [[nodiscard]] SafetensorsHeader take() { return std::move(header_); }

 private:
  enum class At : std::uint8_t { start, tensors, metadata, entry, list, end };
  enum Field : std::uint8_t { dtype, shape, data_offsets };
  static constexpr const char* fields[] = {"dtype", "shape", "data_offsets"};

  bool go(At place) {
    at_ = place;
    return true;
  }

  bool begin_tensor(std::string name) {
    if (!names_.insert(name).second)
      return stop(
          failure(AXLE_MALFORMED, "%s: tensor \"%s\" is there twice", where(), name.c_str()));
    is_metadata_ = name == "__metadata__";
    placed_ = {};
    placed_.tensor.name = std::move(name);
    places_ = 0;
    std::fill(std::begin(seen_), std::end(seen_), false);
    return true;
  }

  bool end_tensor() {
    if (!std::all_of(std::begin(seen_), std::end(seen_), [](bool seen) { return seen; }))
      return complain("its entry has not dtype, shape and data_offsets");
    if (places_ != 2) return complain("its data_offsets are not two places");
    const std::optional<std::size_t> bytes =
        tensor_bytes(placed_.tensor.type, placed_.tensor.shape);
    if (!bytes || placed_.begin > placed_.end || placed_.end - placed_.begin != *bytes)
      return complain("its shape and type do not take as many bytes as its data_offsets say");
    header_.tensors.push_back(std::move(placed_));
    return go(At::tensors);
  }

  bool complain(const char* why) {
    return stop(failure(AXLE_MALFORMED, "%s: tensor \"%s\": %s", where(),
                        placed_.tensor.name.c_str(), why));
  }

  bool unwanted() override {
    if (at_ == At::start)
      return stop(failure(AXLE_MALFORMED, "%s: the header is no JSON object", where()));
    if (at_ == At::metadata)
      return stop(failure(AXLE_MALFORMED, "%s: metadata \"%s\" is no text", where(),
                          metadata_key_.c_str()));
    if (at_ == At::tensors && is_metadata_)
      return stop(failure(AXLE_MALFORMED, "%s: \"__metadata__\" is no JSON object", where()));
    if (at_ == At::tensors) return complain("its entry is no JSON object");
    if (field_ == dtype) return complain("its dtype is no text");
    return complain(field_ == shape ? "its shape is no list of lengths"
                                    : "its data_offsets are not two places");
  }

  SafetensorsHeader header_;
  std::unordered_set<std::string> names_;
  At at_ = At::start;
  bool is_metadata_ = false;
  std::string metadata_key_;
  PlacedTensor placed_;
  Field field_ = dtype;
  bool seen_[3] = {};
  std::size_t places_ = 0;
};

}  // namespace

const char* safetensors_type_name(TensorType type) {
  const auto* const stored = std::find_if(std::begin(stored_types), std::end(stored_types),
                                          [&](const StoredType& one) { return one.type == type; });
  return stored == std::end(stored_types) ? nullptr : stored->name;
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view text, const std::string& path) {
  // Spaces may follow, nothing may come before: not even a byte order mark.
  if (!text.starts_with('{'))
    return failure(AXLE_MALFORMED, "%s: the header does not begin with \"{\"", path.c_str());
  HeaderEvents events;
  const Result<void> read = events.read(text, path);
  if (!read) return std::unexpected(read.error());
  SafetensorsHeader header = events.take();
  std::sort(header.tensors.begin(), header.tensors.end(),
            [](const PlacedTensor& a, const PlacedTensor& b) {
              return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
            });
  return header;
}

}  // namespace axle::runtime
