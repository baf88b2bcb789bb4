#include "runtime/files/safetensors.h"

#include <memory>
#include <utility>

#include <unistd.h>

#include "runtime/files/safetensors_header.h"
#include "runtime/files/shard_index.h"

namespace axle::runtime {
namespace {

/// The header's JSON text.
Result<std::string> header_text(const ModelFile& file) {
  std::uint64_t length = 0;
  if (file.size() < sizeof length)
    return failure(AXLE_MALFORMED, "%s: %llu bytes are too few for a safetensors file",
                   file.path().c_str(), wide(file.size()));
  const Result<void> read = file.read(0, std::as_writable_bytes(std::span(&length, 1)));
  if (!read) return std::unexpected(read.error());
  if (length > largest_safetensors_header || length > file.size() - sizeof length)
    return failure(
        AXLE_MALFORMED,
        "%s: a header of %llu bytes in a file of %llu; this is no safetensors file, or it "
        "is damaged or not complete",
        file.path().c_str(), wide(length), wide(file.size()));
  std::string text(static_cast<std::size_t>(length), '\0');
  const Result<void> done = file.read(sizeof length, std::as_writable_bytes(std::span(text)));
  if (!done) return std::unexpected(done.error());
  return text;
}

bool exists(const std::string& path) { return access(path.c_str(), F_OK) == 0; }

}  // namespace

Result<void> read_safetensors(ModelFile opened, TensorSource& to, SafetensorsMetadata& metadata) {
  auto kept = std::make_unique<const ModelFile>(std::move(opened));
  const ModelFile& file = *kept;
  to.keep(std::move(kept));
  const std::string& path = file.path();
  const Result<std::string> text = header_text(file);
  if (!text) return std::unexpected(text.error());
  Result<SafetensorsHeader> header = parse_safetensors_header(*text, path);
  if (!header) return std::unexpected(header.error());
  const std::uint64_t data = sizeof(std::uint64_t) + text->size();
  const std::uint64_t size = file.size() - data;
  std::uint64_t end = 0;
  for (PlacedTensor& placed : header->tensors) {
    const char* const name = placed.tensor.name.c_str();
    if (placed.begin != end)
      return failure(AXLE_MALFORMED,
                     "%s: tensor \"%s\" begins at byte %llu of the data, not at %llu where the one "
                     "before it ends",
                     path.c_str(), name, wide(placed.begin), wide(end));
    end = placed.end;
    if (end > size)
      return failure(AXLE_MALFORMED,
                     "%s: tensor \"%s\" goes on behind the end of the file; it is damaged or not "
                     "complete",
                     path.c_str(), name);
    placed.tensor.file = &file;
    placed.tensor.at = data + placed.begin;
    placed.tensor.bytes = static_cast<std::size_t>(end - placed.begin);
    if (to.find(placed.tensor.name) != nullptr)
      return failure(AXLE_MALFORMED, "%s: tensor \"%s\" is in another file of this model as well",
                     path.c_str(), name);
    const Result<void> added = to.add(std::move(placed.tensor));
    if (!added) return added;
  }
  if (end != size)
    return failure(AXLE_MALFORMED, "%s: %llu bytes follow the last tensor", path.c_str(),
                   wide(size - end));
  metadata.merge(header->metadata);
  return {};
}

Result<SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  SafetensorsFile opened(path);
  Result<ModelFile> file = ModelFile::open(path);
  if (!file) return std::unexpected(file.error());
  const Result<void> read = read_safetensors(std::move(*file), opened.tensors_, opened.metadata_);
  if (!read) return std::unexpected(read.error());
  return opened;
}

Result<SafetensorsFolder> SafetensorsFolder::open(const std::string& folder) {
  SafetensorsFolder opened(folder);
  const std::string whole_path = folder + "/model.safetensors";
  const std::string index_path = whole_path + ".index.json";
  if (!exists(whole_path) && exists(index_path)) {
    const Result<void> read = opened.open_shards(folder, index_path);
    if (!read) return std::unexpected(read.error());
    return opened;
  }
  Result<ModelFile> file = ModelFile::open(whole_path);
  if (!file)
    return failure(file.error().status, "%s%s", file.error().message.c_str(),
                   exists(whole_path) ? "" : "; model.safetensors.index.json is not there either");
  const Result<void> read = read_safetensors(std::move(*file), opened.tensors_, opened.metadata_);
  if (!read) return std::unexpected(read.error());
  return opened;
}

Result<void> SafetensorsFolder::open_shards(const std::string& folder,
                                            const std::string& index_path) {
  const Result<std::string> index = read_text(index_path, largest_json_file);
  if (!index) return std::unexpected(index.error());
  const auto promised = parse_shard_index(*index, index_path);
  if (!promised) return std::unexpected(promised.error());
  std::map<std::string, std::vector<std::string>> shards;  // each with its tensors
  for (const auto& [tensor, name] : *promised) shards[name].push_back(tensor);
  for (const auto& [name, tensors] : shards) {
    const std::string path = folder + "/" + name;
    Result<ModelFile> file = ModelFile::open(path);
    if (!file)
      return failure(file.error().status, "%s; by %s tensor \"%s\" is in it",
                     file.error().message.c_str(), index_path.c_str(), tensors.front().c_str());
    const std::size_t before = tensors_.tensors().size();
    const Result<void> read = read_safetensors(std::move(*file), tensors_, metadata_);
    if (!read) return read;
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
