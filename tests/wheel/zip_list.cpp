// Answers for our zip reader in zip_differential.py: a path per line on stdin; for each either the
// names, sizes, modes and SHA-256 sums of its members, or why it is refused, and then a line "end".
#include <cstdio>
#include <iostream>
#include <string>

#include "wheel/hash/sha256.h"
#include "wheel/zip/zip_reader.h"

namespace {

using namespace axle::wheel;

/// The members as text; the first error instead.
axle::Result<std::string> list_members(const std::string& path) {
  auto source = open_file_source(path);
  if (!source) return std::unexpected(source.error());
  const auto reader = ZipReader::open(std::move(*source), path);
  if (!reader) return std::unexpected(reader.error());
  std::string text;
  for (const ZipEntry& entry : reader->entries()) {
    Sha256 hash;
    const auto read = reader->read(entry, [&](std::span<const std::byte> bytes) {
      hash.update(bytes);
      return axle::Result<void>{};
    });
    if (!read) return std::unexpected(read.error());
    text += "member " + render_hex(hash.finish()) + " " + std::to_string(entry.size) + " " +
            (entry.directory    ? "d"
             : entry.executable ? "x"
                                : "-") +
            " " + entry.name + "\n";
  }
  return text;
}

}  // namespace

int main() {
  std::string path;
  while (std::getline(std::cin, path)) {
    const auto text = list_members(path);
    const std::string answer = text ? *text : "refused " + text.error().message + "\n";
    std::cout << answer << "end" << std::endl;
  }
  return 0;
}
