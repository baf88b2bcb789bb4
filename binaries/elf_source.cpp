#include "binaries/elf_source.h"

#include <fmt/format.h>

namespace axle::binaries {

Error elf_error(elf::Problem problem, std::string_view where) {
  const ErrorKind kind = problem == elf::Problem::other_format ? ErrorKind::unsupported
                         : problem == elf::Problem::unreadable ? ErrorKind::io
                                                               : ErrorKind::malformed;
  return {kind, fmt::format("{}: {}", where, elf::describe(problem))};
}

Error ElfSource::error(elf::Problem problem, std::string_view where) const {
  if (problem == elf::Problem::unreadable && failure_) return *failure_;
  return elf_error(problem, where);
}

bool ElfSource::read(std::uint64_t offset, std::span<std::byte> out) {
  auto done = source_.read(offset, out);
  if (done) return true;
  failure_ = std::move(done).error();
  return false;
}

}  // namespace axle::binaries
