#include "runtime/files/safetensors.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include <nlohmann/json.hpp>
#include <unistd.h>

namespace axle::runtime {
namespace {

using nlohmann::json;

constexpr std::uint64_t largest_header = 100'000'000;  // as the format has it
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

/// A key that is there twice would let two readers see two models: the parser is told to stop.
std::optional<json> parse_strictly(std::string_view text) {
  std::vector<std::map<std::string, bool>> keys;
  bool twice = false;
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key &&
        !keys.back().emplace(parsed.get<std::string>(), true).second)
      twice = true;
    return true;
  };
  json document = json::parse(text, watch, false);
  if (document.is_discarded() || twice || !document.is_object()) return std::nullopt;
  return document;
}

struct Placed {
  Tensor tensor;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

class Header {
 public:
  explicit Header(const std::string& path) : path_(path) {}

  Result<Placed> read_tensor(const std::string& name, const json& entry) const {
    Placed placed;
    placed.tensor.name = name;
    if (!entry.is_object() || !entry.contains("dtype") || !entry.contains("shape") ||
        !entry.contains("data_offsets"))
      return complain(name, "its entry has not dtype, shape and data_offsets");
    const json& dtype = entry["dtype"];
    const auto* const type =
        std::find_if(std::begin(stored_types), std::end(stored_types), [&](const StoredType& one) {
          return dtype.is_string() && dtype.get_ref<const std::string&>() == one.name;
        });
    if (type == std::end(stored_types))
      return failure(AXLE_UNSUPPORTED, "%s: tensor \"%s\" is of type %.40s, which is not supported",
                     path_.c_str(), name.c_str(), dtype.dump().c_str());
    placed.tensor.type = type->type;
    const json& shape = entry["shape"];
    if (!shape.is_array() || shape.size() > most_lengths)
      return complain(name, "its shape is no list of up to 8 lengths");
    for (const json& length : shape) {
      if (!length.is_number_unsigned())
        return complain(name, "its shape holds something else than lengths");
      placed.tensor.shape.push_back(length.get<std::size_t>());
    }
    const json& offsets = entry["data_offsets"];
    if (!offsets.is_array() || offsets.size() != 2 || !offsets[0].is_number_unsigned() ||
        !offsets[1].is_number_unsigned())
      return complain(name, "its data_offsets are not two places");
    placed.begin = offsets[0].get<std::uint64_t>();
    placed.end = offsets[1].get<std::uint64_t>();
    const std::optional<std::size_t> bytes = tensor_bytes(placed.tensor.type, placed.tensor.shape);
    if (!bytes || placed.begin > placed.end || placed.end - placed.begin != *bytes)
      return complain(name, "its shape and type do not take as many bytes as its data_offsets say");
    return placed;
  }

  [[nodiscard]] std::unexpected<Failure> complain(const std::string& name, const char* why) const {
    return failure(AXLE_MALFORMED, "%s: tensor \"%s\": %s", path_.c_str(), name.c_str(), why);
  }

 private:
  const std::string& path_;
};

Result<std::vector<Placed>> read_header(std::string_view text, const std::string& path) {
  const std::optional<json> document = parse_strictly(text);
  if (!document)
    return failure(AXLE_MALFORMED, "%s: the header is no JSON object with each key once",
                   path.c_str());
  std::vector<Placed> tensors;
  const Header header(path);
  for (const auto& [name, entry] : document->items()) {
    if (name == "__metadata__") continue;
    Result<Placed> placed = header.read_tensor(name, entry);
    if (!placed) return std::unexpected(placed.error());
    tensors.push_back(std::move(*placed));
  }
  std::sort(tensors.begin(), tensors.end(), [](const Placed& a, const Placed& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.end < b.end;
  });
  return tensors;
}

/// A file's name as an index may give it: in the folder itself.
bool is_plain_name(const std::string& name) {
  return !name.empty() && name.find('/') == std::string::npos && name != "." && name != ".." &&
         name.find('\0') == std::string::npos;
}

/// Shards by name, with the tensors that the index promises in each.
Result<std::map<std::string, std::vector<std::string>>> read_index(std::string_view text,
                                                                   const std::string& path) {
  const std::optional<json> document = parse_strictly(text);
  if (!document || !document->contains("weight_map") || !(*document)["weight_map"].is_object())
    return failure(AXLE_MALFORMED, "%s: no JSON object with a \"weight_map\", each key once",
                   path.c_str());
  std::map<std::string, std::vector<std::string>> shards;
  for (const auto& [tensor, shard] : (*document)["weight_map"].items()) {
    if (!shard.is_string() || !is_plain_name(shard.get<std::string>()))
      return failure(AXLE_MALFORMED, "%s: the file of tensor \"%s\" is no file's name",
                     path.c_str(), tensor.c_str());
    shards[shard.get<std::string>()].push_back(tensor);
  }
  return shards;
}

}  // namespace

Result<void> read_safetensors(const MappedFile& file, const std::string& path, TensorSource& to) {
  const std::span<const std::byte> bytes = file.bytes();
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length)
    return failure(AXLE_MALFORMED, "%s: %zu bytes are too few for a safetensors file", path.c_str(),
                   bytes.size());
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > largest_header || length > bytes.size() - sizeof length)
    return failure(
        AXLE_MALFORMED,
        "%s: a header of %llu bytes does not fit; the file has %zu and is no safetensors "
        "file, or damaged",
        path.c_str(), static_cast<unsigned long long>(length), bytes.size());
  const std::size_t header = static_cast<std::size_t>(length);
  Result<std::vector<Placed>> tensors =
      read_header(file.text().substr(sizeof length, header), path);
  if (!tensors) return std::unexpected(tensors.error());
  const std::span<const std::byte> data = bytes.subspan(sizeof length + header);
  std::uint64_t end = 0;
  for (Placed& placed : *tensors) {
    const char* const name = placed.tensor.name.c_str();
    if (placed.begin != end)
      return failure(AXLE_MALFORMED,
                     "%s: tensor \"%s\" begins at byte %llu of the data, not at %llu "
                     "where the one before it ends",
                     path.c_str(), name, static_cast<unsigned long long>(placed.begin),
                     static_cast<unsigned long long>(end));
    end = placed.end;
    if (end > data.size())
      return failure(AXLE_MALFORMED,
                     "%s: tensor \"%s\" goes on behind the end of the file; it is "
                     "damaged or not complete",
                     path.c_str(), name);
    placed.tensor.data = data.subspan(static_cast<std::size_t>(placed.begin),
                                      static_cast<std::size_t>(end - placed.begin));
    const Result<void> added = to.add(std::move(placed.tensor));
    if (!added) return added;
  }
  if (end != data.size())
    return failure(AXLE_MALFORMED, "%s: %llu bytes follow the last tensor", path.c_str(),
                   static_cast<unsigned long long>(data.size() - end));
  return {};
}

Result<SafetensorsFolder> SafetensorsFolder::open(const std::string& folder) {
  SafetensorsFolder opened(folder);
  const std::string index_path = folder + "/model.safetensors.index.json";
  std::map<std::string, std::vector<std::string>> shards{{"model.safetensors", {}}};
  if (access(index_path.c_str(), F_OK) == 0) {
    const Result<MappedFile> index = MappedFile::open(index_path);
    if (!index) return std::unexpected(index.error());
    auto read = read_index(index->text(), index_path);
    if (!read) return std::unexpected(read.error());
    shards = std::move(*read);
  }
  for (const auto& [name, promised] : shards) {
    const std::string path = folder + "/" + name;
    Result<MappedFile> file = MappedFile::open(path);
    if (!file) return std::unexpected(file.error());
    const std::size_t before = opened.tensors_.tensors().size();
    const Result<void> read = read_safetensors(*file, path, opened.tensors_);
    if (!read) return std::unexpected(read.error());
    opened.files_.push_back(std::move(*file));
    for (const std::string& tensor : promised) {
      const Tensor* const found = opened.tensors_.find(tensor);
      if (found == nullptr || found < opened.tensors_.tensors().data() + before)
        return failure(AXLE_MALFORMED, "%s: tensor \"%s\" is not in \"%s\" as it says",
                       index_path.c_str(), tensor.c_str(), name.c_str());
    }
  }
  return opened;
}

}  // namespace axle::runtime
