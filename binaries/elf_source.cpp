#include "binaries/elf_source.h"

#include <fmt/format.h>

namespace axle::binaries {

Error elf_error(elf::ReadError error, std::string_view where) {
  const ErrorKind kind = error == elf::ReadError::other_format ? ErrorKind::unsupported
                         : error == elf::ReadError::unreadable ? ErrorKind::io
                                                               : ErrorKind::malformed;
  return {kind, fmt::format("{}: {}", where, elf::describe(error))};
}

Error ElfSource::error(elf::ReadError error, std::string_view where) const {
  if (error == elf::ReadError::unreadable && failure_) return *failure_;
  return elf_error(error, where);
}

bool ElfSource::read(std::uint64_t offset, std::span<std::byte> out) {
  auto done = source_.read(offset, out);
  if (done) return true;
  failure_ = std::move(done).error();
  return false;
}

}  // namespace axle::binaries
