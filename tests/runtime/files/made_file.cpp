#include "tests/runtime/files/made_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>
#include <stdlib.h>

namespace axle::runtime::testing {

Folder::Folder() {
  std::string pattern = (std::filesystem::temp_directory_path() / "axle-files-XXXXXX").string();
  REQUIRE(mkdtemp(pattern.data()) != nullptr);
  path_ = pattern;
}

Folder::~Folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string Folder::write(const std::string& name, std::string_view bytes) const {
  std::ofstream file(at(name), std::ios::binary);
  file << bytes;
  REQUIRE(file.good());
  return at(name);
}

std::string Folder::read(const std::string& name) const {
  std::ostringstream text;
  std::ifstream file(at(name), std::ios::binary);
  REQUIRE(file.good());
  text << file.rdbuf();
  return text.str();
}

std::vector<std::string> Folder::names() const {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path_))
    names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

std::string gguf_text(std::string_view text) {
  return raw(std::uint64_t{text.size()}) + std::string(text);
}

std::string gguf_value(std::string_view key, std::uint32_t type, std::string_view bytes) {
  return gguf_text(key) + raw(type) + std::string(bytes);
}

std::string gguf_array(std::string_view key, std::uint32_t type, std::uint64_t count,
                       std::string_view bytes) {
  return gguf_value(key, 9, raw(type) + raw(count) + std::string(bytes));
}

std::string gguf_tensor(std::string_view name, const std::vector<std::uint64_t>& lengths,
                        std::uint32_t type, std::uint64_t offset) {
  std::string bytes = gguf_text(name) + raw(static_cast<std::uint32_t>(lengths.size()));
  for (const std::uint64_t length : lengths) bytes += raw(length);
  return bytes + raw(type) + raw(offset);
}

std::string text_of(const Tensor& tensor) {
  std::string text(tensor.bytes, '?');
  REQUIRE(read_bytes(tensor, 0, std::as_writable_bytes(std::span(text))).has_value());
  return text;
}

std::string GgufParts::bytes() const {
  std::string file = magic + raw(version);
  file += raw(claimed_tensors == UINT64_MAX ? std::uint64_t{tensors.size()} : claimed_tensors);
  file += raw(claimed_values == UINT64_MAX ? std::uint64_t{values.size()} : claimed_values);
  for (const std::string& value : values) file += value;
  for (const std::string& tensor : tensors) file += tensor;
  if (!data.empty()) file.resize((file.size() + alignment - 1) / alignment * alignment);
  return file + data;
}

}  // namespace axle::runtime::testing
