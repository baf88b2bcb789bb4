#include "doctor/audit/library_reading.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "binaries/code_scan.h"
#include "binaries/cut/library_cut.h"
#include "foundation/text/byte_size.h"

namespace axle::doctor {
UnreadLibrary unread_library(std::string path, const Error& error) {
  std::string why = error.message;
  // It may be named with the folder that it is in.
  const std::size_t end = why.find(path + ": ");
  if (end != std::string::npos) why.erase(0, end + path.size() + 2);
  return {std::move(path), std::move(why), error.kind == ErrorKind::malformed};
}

ReadLibrary read_audited_library(std::string path, std::string_view bytes, unsigned threads) {
  const auto source = wheel::memory_source(bytes);
  auto facts = binaries::scan_binary(*source, path);
  if (!facts) return unread_library(std::move(path), facts.error());
  if (auto whole = binaries::check_gpu_code(bytes, *facts, path); !whole)
    return unread_library(std::move(path), whole.error());
  auto linkage = binaries::read_linkage(*source, path);
  if (!linkage) return unread_library(std::move(path), linkage.error());
  AuditedLibrary library;
  library.facts = std::move(*facts);
  library.linkage = std::move(*linkage);
  if (auto code = binaries::scan_code(bytes, path, threads)) library.code = std::move(*code);
  library.path = std::move(path);
  return library;
}

void add_library(Audited& audited, ReadLibrary library) {
  if (audited.libraries.size() + audited.unread.size() >= most_audited_libraries) {
    ++audited.passed_over;
    return;
  }
  if (auto* read = std::get_if<AuditedLibrary>(&library)) {
    if (read->linkage.loadable) audited.libraries.push_back(std::move(*read));
  } else {
    audited.unread.push_back(std::get<UnreadLibrary>(std::move(library)));
  }
}

void sort_libraries(Audited& audited) {
  std::ranges::sort(audited.libraries, {}, &AuditedLibrary::path);
  std::ranges::sort(audited.unread, {}, &UnreadLibrary::path);
}

UnreadLibrary too_large_library(std::string path, std::uint64_t size) {
  return {std::move(path), fmt::format("it has {}, more than is read", text::render_memory(size)),
          false};
}

}  // namespace axle::doctor
