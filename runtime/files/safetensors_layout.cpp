#include "runtime/files/safetensors_layout.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <unordered_set>
#include <utility>

#include <nlohmann/json.hpp>

#include "runtime/files/safetensors_header.h"
#include "runtime/json_text.h"

namespace axle::runtime {
namespace {

constexpr const char* metadata_key = "__metadata__";

/// {"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}
std::string entry_text(const TensorToWrite& tensor, std::uint64_t begin, std::uint64_t size) {
  std::string text =
      "{\"dtype\":\"" + std::string(safetensors_type_name(tensor.type)) + "\",\"shape\":[";
  for (std::size_t i = 0; i < tensor.shape.size(); ++i)
    text += (i > 0 ? "," : "") + std::to_string(tensor.shape[i]);
  return text + "],\"data_offsets\":[" + std::to_string(begin) + "," +
         std::to_string(begin + size) + "]}";
}

Result<std::string> metadata_text(const std::string& path, const SafetensorsMetadata& metadata) {
  std::string text = "{";
  for (const auto& [key, value] : metadata) {
    const Result<std::string> quoted_key = json_string(path, key);
    if (!quoted_key) return quoted_key;
    const Result<std::string> quoted_value = json_string(path, value);
    if (!quoted_value) return quoted_value;
    if (text.size() > 1) text += ",";
    text += *quoted_key + ":" + *quoted_value;
  }
  return text + "}";
}

/// What follows from each tensor by itself, and from their names.
Result<void> measure(const std::string& path, std::span<const TensorToWrite> tensors,
                     SafetensorsLayout& layout) {
  std::unordered_set<std::string_view> names;
  std::uint64_t total = 0;
  for (const TensorToWrite& tensor : tensors) {
    const char* const name = tensor.name.c_str();
    if (tensor.name == metadata_key || !names.insert(tensor.name).second)
      return failure(AXLE_BAD_ARGUMENT, "%s: two tensors cannot have the name \"%s\"", path.c_str(),
                     name);
    if (safetensors_type_name(tensor.type) == nullptr)
      return failure(AXLE_UNSUPPORTED,
                     "%s: tensor \"%s\" is of type %s, which safetensors files do not have",
                     path.c_str(), name, row(tensor.type).name);
    const std::optional<std::size_t> bytes = tensor_bytes(tensor.type, tensor.shape);
    if (!bytes || __builtin_add_overflow(total, *bytes, &total))
      return failure(AXLE_BAD_ARGUMENT, "%s: tensor \"%s\" is too large", path.c_str(), name);
    layout.sizes.push_back(*bytes);
  }
  return {};
}

}  // namespace

// Not by nlohmann's dump(), whose shared_ptr needs a symbol of glibc 2.32.
Result<std::string> json_string(const std::string& path, const std::string& text) {
  std::string quoted;
  append_json_string(quoted, text);
  if (!nlohmann::json::accept(quoted))
    return failure(AXLE_BAD_ARGUMENT, "%s: \"%s\" is no UTF-8, which JSON needs", path.c_str(),
                   text.c_str());
  return quoted;
}

Result<SafetensorsLayout> lay_out(const std::string& path, std::span<const TensorToWrite> tensors,
                                  const SafetensorsMetadata& metadata) {
  SafetensorsLayout layout;
  const Result<void> measured = measure(path, tensors, layout);
  if (!measured) return std::unexpected(measured.error());
  std::vector<std::size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    const std::size_t size_a = row(tensors[a].type).block_bytes;
    const std::size_t size_b = row(tensors[b].type).block_bytes;
    return size_a != size_b ? size_a > size_b : a < b;
  });
  std::string json = "{";
  if (!metadata.empty()) {
    const Result<std::string> text = metadata_text(path, metadata);
    if (!text) return std::unexpected(text.error());
    json += "\"" + std::string(metadata_key) + "\":" + *text;
  }
  layout.begins.resize(tensors.size());
  std::uint64_t begin = 0;
  for (const std::size_t i : order) {
    const Result<std::string> name = json_string(path, tensors[i].name);
    if (!name) return std::unexpected(name.error());
    if (json.size() > 1) json += ",";
    json += *name + ":" + entry_text(tensors[i], begin, layout.sizes[i]);
    layout.begins[i] = begin;
    begin += layout.sizes[i];
  }
  json += "}";
  json.append((8 - json.size() % 8) % 8, ' ');
  if (json.size() > largest_safetensors_header)
    return failure(AXLE_BAD_ARGUMENT, "%s: a header of %zu bytes is beyond the format's limit",
                   path.c_str(), json.size());
  for (unsigned shift = 0; shift < 64; shift += 8)
    layout.head += static_cast<char>((std::uint64_t{json.size()} >> shift) & 0xffU);
  layout.head += json;
  if (__builtin_add_overflow(begin, layout.head.size(), &layout.bytes) || layout.bytes > INT64_MAX)
    return failure(AXLE_BAD_ARGUMENT, "%s: the tensors are too large for a file", path.c_str());
  return layout;
}

}  // namespace axle::runtime
