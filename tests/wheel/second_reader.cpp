#include "tests/wheel/second_reader.h"

#include <array>
#include <clocale>
#include <memory>

#include <archive.h>
#include <archive_entry.h>

namespace axle::wheel::testing {
namespace {

struct FreeArchive {
  void operator()(archive* reader) const { archive_read_free(reader); }
};

/// The content at which the reader stands; false on an error.
bool read_data(archive* reader, std::string& content) {
  std::array<char, 16384> buffer{};
  while (true) {
    const la_ssize_t count = archive_read_data(reader, buffer.data(), buffer.size());
    if (count < 0) return false;
    if (count == 0) return true;
    content.append(buffer.data(), static_cast<std::size_t>(count));
  }
}

}  // namespace

SecondOpinion read_with_libarchive(std::string_view bytes) {
  std::setlocale(LC_CTYPE, "C.UTF-8");  // in the C locale libarchive has no name beyond ASCII
  SecondOpinion opinion;
  const std::unique_ptr<archive, FreeArchive> reader(archive_read_new());
  archive_read_support_format_zip_seekable(reader.get());
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
    opinion.error = archive_error_string(reader.get());
    return opinion;
  }
  archive_entry* entry = nullptr;
  int status = ARCHIVE_OK;
  while ((status = archive_read_next_header(reader.get(), &entry)) == ARCHIVE_OK) {
    const char* name = archive_entry_pathname_utf8(entry);
    auto& member = opinion.members.emplace_back(name == nullptr ? "?" : name, "");
    if (!read_data(reader.get(), member.second)) {
      opinion.error = archive_error_string(reader.get());
      return opinion;
    }
  }
  if (status != ARCHIVE_EOF) opinion.error = archive_error_string(reader.get());
  return opinion;
}

}  // namespace axle::wheel::testing
