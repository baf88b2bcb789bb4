// tensor_dump FILE: each tensor of a GGUF or safetensors file or folder, as a line of JSON-free
// text (name, type, shape) and its numbers in float32, if they are floats, else its bytes.
// tensor_dump FROM TO SHARD_BYTES: the safetensors folder FROM written again to the folder TO.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "runtime/files/gguf.h"
#include "runtime/files/safetensors.h"
#include "runtime/files/safetensors_writer.h"

namespace {

using namespace axle::runtime;

int report(const Failure& failure) {
  std::fprintf(stderr, "%s\n", failure.message.c_str());
  return 1;
}

Result<void> dump(const TensorSource& source) {
  for (const Tensor& tensor : source.tensors()) {
    std::printf("%s %s", tensor.name.c_str(), row(tensor.type).name);
    for (const std::size_t length : tensor.shape) std::printf(" %zu", length);
    std::printf("\n");
    if (!row(tensor.type).is_float) {
      std::vector<std::byte> bytes(tensor.bytes);
      const Result<void> read = read_bytes(tensor, 0, bytes);
      if (!read) return read;
      std::fwrite(bytes.data(), 1, bytes.size(), stdout);
      continue;
    }
    std::vector<float> numbers(tensor.rows() * tensor.columns());
    const Result<void> read = read_rows(tensor, 0, tensor.rows(), numbers.data());
    if (!read) return read;
    std::fwrite(numbers.data(), sizeof(float), numbers.size(), stdout);
  }
  return {};
}

template <class File>
int open_and_dump(const std::string& path) {
  const Result<File> file = File::open(path);
  if (!file) return report(file.error());
  const Result<void> dumped = dump(file->tensors());
  return dumped ? 0 : report(dumped.error());
}

int write_again(const std::string& from, const std::string& to, std::uint64_t shard_bytes) {
  const Result<SafetensorsFolder> folder = SafetensorsFolder::open(from);
  if (!folder) return report(folder.error());
  std::vector<TensorToWrite> tensors;
  for (const Tensor& tensor : folder->tensors().tensors()) tensors.push_back(copy_of(tensor));
  const Result<void> written =
      write_safetensors_folder(to, tensors, folder->metadata(), shard_bytes);
  return written ? 0 : report(written.error());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 4) return write_again(argv[1], argv[2], std::strtoull(argv[3], nullptr, 10));
  if (argc != 2) return 2;
  const std::string path = argv[1];
  if (path.ends_with(".gguf")) return open_and_dump<GgufFile>(path);
  if (path.ends_with(".safetensors")) return open_and_dump<SafetensorsFile>(path);
  return open_and_dump<SafetensorsFolder>(path);
}
