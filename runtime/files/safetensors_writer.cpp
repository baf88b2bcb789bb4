#include "runtime/files/safetensors_writer.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <unistd.h>

#include "runtime/files/atomic_file.h"
#include "runtime/files/safetensors_layout.h"

namespace axle::runtime {
namespace {

/// Of a tensor that are in memory while it is copied.
constexpr std::size_t copied_bytes = std::size_t{1} << 20U;

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

Result<void> write_tensor(AtomicFile& file, const std::string& path, const TensorToWrite& tensor,
                          std::uint64_t begin, std::uint64_t size) {
  std::uint64_t done = 0;
  const auto put = [&](std::span<const std::byte> bytes) -> Result<void> {
    if (bytes.size() > size - done)
      return failure(AXLE_BAD_ARGUMENT,
                     "%s: tensor \"%s\": more bytes than the %llu of its type and shape",
                     path.c_str(), tensor.name.c_str(), static_cast<unsigned long long>(size));
    const Result<void> written = file.write(begin + done, bytes);
    done += bytes.size();
    return written;
  };
  const Result<void> written = tensor.write(put);
  if (!written) return written;
  if (done != size)
    return failure(AXLE_BAD_ARGUMENT,
                   "%s: tensor \"%s\": %llu bytes, not the %llu of its type and shape",
                   path.c_str(), tensor.name.c_str(), static_cast<unsigned long long>(done),
                   static_cast<unsigned long long>(size));
  return {};
}

/// Complete and on the disk, not yet under its name.
Result<AtomicFile> write_file(const std::string& path, std::span<const TensorToWrite> tensors,
                              const SafetensorsMetadata& metadata) {
  const Result<SafetensorsLayout> layout = lay_out(path, tensors, metadata);
  if (!layout) return std::unexpected(layout.error());
  Result<AtomicFile> file = AtomicFile::create(path, layout->bytes);
  if (!file) return file;
  const Result<void> headed = file->write(0, bytes_of(layout->head));
  if (!headed) return std::unexpected(headed.error());
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Result<void> written = write_tensor(
        *file, path, tensors[i], layout->head.size() + layout->begins[i], layout->sizes[i]);
    if (!written) return std::unexpected(written.error());
  }
  const Result<void> synced = file->sync();
  if (!synced) return std::unexpected(synced.error());
  return file;
}

/// How many tensors each shard takes, in their order.
std::vector<std::size_t> divide(std::span<const std::uint64_t> sizes, std::uint64_t shard_bytes) {
  std::vector<std::size_t> counts{0};
  std::uint64_t used = 0;
  for (const std::uint64_t size : sizes) {
    const bool fits = used <= shard_bytes && size <= shard_bytes - used;
    if (!fits && counts.back() > 0) {
      counts.push_back(0);
      used = 0;
    }
    ++counts.back();
    used += size;
  }
  return counts;
}

std::string shard_name(std::size_t index, std::size_t count) {
  char name[80];
  std::snprintf(name, sizeof name, "model-%05zu-of-%05zu.safetensors", index + 1, count);
  return name;
}

/// One line a tensor.
Result<std::string> index_text(const std::string& path, std::span<const TensorToWrite> tensors,
                               std::span<const std::size_t> counts, std::uint64_t bytes) {
  std::string text =
      "{\n  \"metadata\": {\"total_size\": " + std::to_string(bytes) + "},\n  \"weight_map\": {";
  std::size_t tensor = 0;
  for (std::size_t shard = 0; shard < counts.size(); ++shard) {
    for (std::size_t i = 0; i < counts[shard]; ++i, ++tensor) {
      const Result<std::string> name = json_string(path, tensors[tensor].name);
      if (!name) return name;
      text += (tensor > 0 ? ",\n    " : "\n    ") + *name + ": \"" +
              shard_name(shard, counts.size()) + "\"";
    }
  }
  return text + "\n  }\n}\n";
}

Result<void> write_shards(const std::string& folder, const std::string& index_path,
                          std::span<const TensorToWrite> tensors,
                          const SafetensorsMetadata& metadata, std::span<const std::size_t> counts,
                          std::uint64_t bytes) {
  const Result<std::string> text = index_text(index_path, tensors, counts, bytes);
  if (!text) return std::unexpected(text.error());
  std::vector<AtomicFile> files;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    Result<AtomicFile> shard =
        write_file(folder + "/" + shard_name(i, counts.size()), tensors.first(counts[i]), metadata);
    if (!shard) return std::unexpected(shard.error());
    files.push_back(std::move(*shard));
    tensors = tensors.subspan(counts[i]);
  }
  Result<AtomicFile> index = AtomicFile::create(index_path, text->size());
  if (!index) return std::unexpected(index.error());
  const Result<void> written = index->write(0, bytes_of(*text));
  if (!written) return written;
  const Result<void> synced = index->sync();
  if (!synced) return synced;
  files.push_back(std::move(*index));
  for (AtomicFile& file : files) {
    const Result<void> published = file.publish();
    if (!published) return published;
  }
  return {};
}

}  // namespace

TensorToWrite copy_of(const Tensor& tensor) {
  return {tensor.name, tensor.type, tensor.shape, [tensor](const PutBytes& put) -> Result<void> {
            std::vector<std::byte> part(std::min(tensor.bytes, copied_bytes));
            for (std::size_t at = 0; at < tensor.bytes; at += part.size()) {
              const std::span<std::byte> next =
                  std::span(part).first(std::min(part.size(), tensor.bytes - at));
              Result<void> done = read_bytes(tensor, at, next);
              if (done) done = put(next);
              if (!done) return done;
            }
            return {};
          }};
}

Result<void> write_safetensors(const std::string& path, std::span<const TensorToWrite> tensors,
                               const SafetensorsMetadata& metadata) {
  Result<AtomicFile> file = write_file(path, tensors, metadata);
  if (!file) return std::unexpected(file.error());
  return file->publish();
}

Result<void> write_safetensors_folder(const std::string& folder,
                                      std::span<const TensorToWrite> tensors,
                                      const SafetensorsMetadata& metadata,
                                      std::uint64_t shard_bytes) {
  const std::string whole_path = folder + "/model.safetensors";
  const std::string index_path = whole_path + ".index.json";
  for (const std::string& path : {whole_path, index_path}) {
    if (access(path.c_str(), F_OK) == 0)
      return failure(AXLE_BAD_ARGUMENT, "%s: there is a model already; name another folder",
                     path.c_str());
  }
  // All together first: a name that is there twice need not be in one shard.
  const Result<SafetensorsLayout> whole = lay_out(whole_path, tensors, metadata);
  if (!whole) return std::unexpected(whole.error());
  const std::vector<std::size_t> counts = divide(whole->sizes, shard_bytes);
  if (counts.size() == 1) return write_safetensors(whole_path, tensors, metadata);
  return write_shards(folder, index_path, tensors, metadata, counts,
                      whole->bytes - whole->head.size());
}

}  // namespace axle::runtime
