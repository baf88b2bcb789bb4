#include "runtime/files/safetensors.h"

#include <cstring>
#include <utility>

#include <unistd.h>

#include "runtime/files/safetensors_header.h"
#include "runtime/files/shard_index.h"

namespace axle::runtime {
namespace {

/// The header's JSON text.
Result<std::string_view> header_text(std::span<const std::byte> bytes, const std::string& path) {
  std::uint64_t length = 0;
  if (bytes.size() < sizeof length)
    return failure(AXLE_MALFORMED, "%s: %zu bytes are too few for a safetensors file", path.c_str(),
                   bytes.size());
  std::memcpy(&length, bytes.data(), sizeof length);
  const std::span<const std::byte> rest = bytes.subspan(sizeof length);
  if (length > largest_safetensors_header || length > rest.size())
    return failure(
        AXLE_MALFORMED,
        "%s: a header of %llu bytes in a file of %zu; this is no safetensors file, or it "
        "is damaged or not complete",
        path.c_str(), static_cast<unsigned long long>(length), bytes.size());
  return std::string_view(reinterpret_cast<const char*>(rest.data()),
                          static_cast<std::size_t>(length));
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

}  // namespace

Result<void> read_safetensors(std::span<const std::byte> bytes, const std::string& path,
                              TensorSource& to, SafetensorsMetadata& metadata) {
  const Result<std::string_view> text = header_text(bytes, path);
  if (!text) return std::unexpected(text.error());
  Result<SafetensorsHeader> header = parse_safetensors_header(*text, path);
  if (!header) return std::unexpected(header.error());
  const std::span<const std::byte> data = bytes.subspan(sizeof(std::uint64_t) + text->size());
  std::uint64_t end = 0;
  for (PlacedTensor& placed : header->tensors) {
    const char* const name = placed.tensor.name.c_str();
    if (placed.begin != end)
      return failure(AXLE_MALFORMED,
                     "%s: tensor \"%s\" begins at byte %llu of the data, not at %llu where the one "
                     "before it ends",
                     path.c_str(), name, static_cast<unsigned long long>(placed.begin),
                     static_cast<unsigned long long>(end));
    end = placed.end;
    if (end > data.size())
      return failure(AXLE_MALFORMED,
                     "%s: tensor \"%s\" goes on behind the end of the file; it is damaged or not "
                     "complete",
                     path.c_str(), name);
    placed.tensor.data = data.subspan(static_cast<std::size_t>(placed.begin),
                                      static_cast<std::size_t>(end - placed.begin));
    if (to.find(placed.tensor.name) != nullptr)
      return failure(AXLE_MALFORMED, "%s: tensor \"%s\" is in another file of this model as well",
                     path.c_str(), name);
    const Result<void> added = to.add(std::move(placed.tensor));
    if (!added) return added;
  }
  if (end != data.size())
    return failure(AXLE_MALFORMED, "%s: %llu bytes follow the last tensor", path.c_str(),
                   static_cast<unsigned long long>(data.size() - end));
  metadata.merge(header->metadata);
  return {};
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  SafetensorsFile opened(path);
  Result<MappedFile> file = MappedFile::open(path);
  if (!file) return std::unexpected(file.error());
  opened.file_ = std::move(*file);
  const Result<void> read =
      read_safetensors(opened.file_.bytes(), path, opened.tensors_, opened.metadata_);
  if (!read) return std::unexpected(read.error());
  opened.tensors_.mark_mapped();
  return opened;
}

Result<SafetensorsFolder> SafetensorsFolder::open(const std::string& folder) {
  SafetensorsFolder opened(folder);
  const std::string whole_path = folder + "/model.safetensors";
  const std::string index_path = whole_path + ".index.json";
  if (!exists(whole_path) && exists(index_path)) {
    const Result<void> read = opened.open_shards(folder, index_path);
    if (!read) return std::unexpected(read.error());
    opened.tensors_.mark_mapped();
    return opened;
  }
  Result<MappedFile> file = MappedFile::open(whole_path);
  if (!file)
    return failure(file.error().status, "%s%s", file.error().message.c_str(),
                   exists(whole_path) ? "" : "; model.safetensors.index.json is not there either");
  opened.files_.push_back(std::move(*file));
  const Result<void> read =
      read_safetensors(opened.files_.back().bytes(), whole_path, opened.tensors_, opened.metadata_);
  if (!read) return std::unexpected(read.error());
  opened.tensors_.mark_mapped();
  return opened;
}

Result<void> SafetensorsFolder::open_shards(const std::string& folder,
                                            const std::string& index_path) {
  const Result<MappedFile> index = MappedFile::open(index_path);
  if (!index) return std::unexpected(index.error());
  const auto promised = parse_shard_index(index->text(), index_path);
  if (!promised) return std::unexpected(promised.error());
  std::map<std::string, std::vector<std::string>> shards;  // each with its tensors
  for (const auto& [tensor, name] : *promised) shards[name].push_back(tensor);
  for (const auto& [name, tensors] : shards) {
    const std::string path = folder + "/" + name;
    Result<MappedFile> file = MappedFile::open(path);
    if (!file)
      return failure(file.error().status, "%s; by %s tensor \"%s\" is in it",
                     file.error().message.c_str(), index_path.c_str(), tensors.front().c_str());
    const std::size_t before = tensors_.tensors().size();
    const Result<void> read = read_safetensors(file->bytes(), path, tensors_, metadata_);
    if (!read) return read;
    files_.push_back(std::move(*file));
    for (const std::string& tensor : tensors) {
      const Tensor* const found = tensors_.find(tensor);
      if (found == nullptr || found < tensors_.tensors().data() + before)
        return failure(AXLE_MALFORMED, "%s: tensor \"%s\" is not in it; by %s it is", path.c_str(),
                       tensor.c_str(), index_path.c_str());
    }
  }
  return {};
}

}  // namespace axle::runtime
