// Zip archives. Input that begins with "edit:" is a script of changes to a valid archive (three
// bytes each: offset, low and high; value), so that seeds are text and the fuzzer starts deep
// inside; other input is an archive itself.
#include "wheel/zip/zip_reader.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include <libdeflate.h>

#include "wheel/wheel_writer.h"

namespace {

using namespace axle::wheel;

std::string base_archive() {
  const auto bytes = write_zip({{"pkg/a.py", std::string(500, 'a'), false},
                                {"pkg/run.sh", "#!/bin/sh\n", true},
                                {"pkg/\xC3\xA4", "x", false}},
                               0);
  return bytes ? *bytes : std::string();
}

std::string edit(std::string bytes, std::string_view script) {
  for (std::size_t i = 0; i + 3 <= script.size(); i += 3) {
    const std::size_t offset =
        static_cast<unsigned char>(script[i]) + 256U * static_cast<unsigned char>(script[i + 1]);
    bytes[offset % bytes.size()] = script[i + 2];
  }
  return bytes;
}

void read_all(const ZipReader& reader) {
  for (const ZipEntry& entry : reader.entries()) {
    const auto text = reader.read_text(entry, 1U << 20);
    if (!text) continue;
    if (text->size() != entry.size) std::abort();
    if (libdeflate_crc32(0, text->data(), text->size()) != entry.crc32) std::abort();
    if (reader.find(entry.name) != &entry) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::string_view mark = "edit:";
  std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with(mark)) bytes = edit(base_archive(), std::string_view(bytes).substr(5));
  const auto whole = ZipReader::open(memory_source(bytes), "fuzz");
  const auto lazy = ZipReader::open_directory(memory_source(bytes), "fuzz");
  if (whole && !lazy) std::abort();
  if (whole) read_all(*whole);
  if (lazy) read_all(*lazy);
  return 0;
}
