#include "binaries/linkage.h"

#include <algorithm>
#include <array>

#include <elf.h>

#include "binaries/elf_source.h"
#include "foundation/elf/elf_dynamic.h"
#include "foundation/elf/elf_tables.h"

namespace axle::binaries {
namespace {

/// The names of libtorch's symbols have tens of megabytes.
constexpr std::uint64_t largest_linkage_table = 256U << 20;  ///< bytes
constexpr std::size_t most_python_symbols = 20'000;
constexpr std::string_view module_prefix = "PyInit_";

void read_segments(const elf::Tables& tables, Linkage& linkage) {
  const auto is_run = [](const elf::Segment& segment) {
    return segment.type == PT_LOAD && (segment.flags & PF_X) != 0;
  };
  const elf::Segment* stack = tables.segment(PT_GNU_STACK);
  // Where nothing is said, the loader's default counts (glibc, DEFAULT_STACK_PERMS).
  linkage.executable_stack = stack != nullptr ? (stack->flags & PF_X) != 0
                                              : tables.machine == EM_X86_64 &&
                                                    std::ranges::any_of(tables.segments, is_run);
  linkage.writable_code = std::ranges::any_of(tables.segments, [](const elf::Segment& segment) {
    return segment.type == PT_LOAD && (segment.flags & (PF_W | PF_X)) == (PF_W | PF_X);
  });
}

bool has_text_relocations(const elf::Dynamic& dynamic) {
  return dynamic.value(DT_TEXTREL).has_value() ||
         (dynamic.value(DT_FLAGS).value_or(0) & DF_TEXTREL) != 0;
}

void take_symbol(const elf::DynamicSymbol& symbol, Linkage& linkage) {
  if (symbol.defined) {
    if (symbol.name.starts_with(module_prefix))
      linkage.modules.emplace_back(symbol.name.substr(module_prefix.size()));
    return;
  }
  if (symbol.weak) return;
  if (symbol.name.starts_with("Py") || symbol.name.starts_with("_Py")) {
    if (linkage.python.size() < most_python_symbols) linkage.python.emplace_back(symbol.name);
  } else if (is_torch_stable(symbol.name)) {
    linkage.torch_stable.add(symbol.name);
  } else if (is_torch_cxx(symbol.name)) {
    linkage.torch_cxx.add(symbol.name);
  }
}

}  // namespace

void SymbolUse::add(std::string_view symbol) {
  if (++count <= most_examples) examples.emplace_back(symbol);
}

bool is_torch_cxx(std::string_view symbol) {
  if (!symbol.starts_with("_Z")) return false;
  constexpr std::array<std::string_view, 6> names = {"N2at",   "NK2at",   "N3c10",
                                                     "NK3c10", "N5torch", "NK5torch"};
  return std::ranges::any_of(names, [&](std::string_view name) { return symbol.contains(name); });
}

bool is_torch_stable(std::string_view symbol) {
  return symbol.starts_with("aoti_torch_") || symbol.starts_with("torch_");
}

Result<Linkage> read_linkage(wheel::ByteSource& source, std::string_view where) {
  ElfSource bytes(source, largest_linkage_table);
  const auto failed = [&](elf::ReadError error) {
    return std::unexpected(bytes.error(error, where));
  };
  const auto tables = elf::read_tables(bytes);
  if (!tables) return failed(tables.error());
  Linkage linkage;
  linkage.loadable = tables->type == ET_DYN || tables->type == ET_EXEC;
  if (!linkage.loadable) return linkage;
  const auto dynamic = elf::read_dynamic(bytes, *tables);
  if (!dynamic) return failed(dynamic.error());
  read_segments(*tables, linkage);
  linkage.text_relocations = has_text_relocations(*dynamic);
  auto needs = elf::read_version_needs(bytes, *tables, *dynamic);
  if (!needs) return failed(needs.error());
  linkage.version_needs = std::move(*needs);
  const auto visited = elf::visit_dynamic_symbols(
      bytes, *tables, [&](const elf::DynamicSymbol& symbol) { take_symbol(symbol, linkage); });
  if (!visited) return failed(visited.error());
  std::ranges::sort(linkage.python);
  return linkage;
}

std::string_view architecture_of_module(std::string_view file_name) {
  // PyPy's has the version of PyPy before it: ".pypy311-pp73-x86_64-linux-gnu.so".
  const std::size_t pypy = file_name.rfind(".pypy");
  const std::size_t at = pypy == std::string_view::npos ? file_name.rfind(".cpython-") : pypy;
  if (at == std::string_view::npos || !file_name.ends_with(".so")) return {};
  const std::size_t first = file_name.find('-', at + 1);
  const std::size_t begin =
      first == std::string_view::npos ? first : file_name.find('-', first + 1);
  const std::size_t end = file_name.find("-linux-", begin);
  if (begin == std::string_view::npos || end == std::string_view::npos || end == begin) return {};
  return file_name.substr(begin + 1, end - begin - 1);
}

std::string module_name_for(std::string_view file_name, std::string_view architecture) {
  const std::string_view own = architecture_of_module(file_name);
  const auto begin = static_cast<std::size_t>(own.data() - file_name.data());
  // "gnueabihf" is of 32-bit Arm alone.
  const bool musl = file_name.substr(begin).contains("-linux-musl");
  return std::string(file_name.substr(0, begin))
      .append(architecture)
      .append(musl ? "-linux-musl.so" : "-linux-gnu.so");
}

bool names_other_architecture(std::string_view file_name, std::string_view architecture) {
  const std::string_view own = architecture_of_module(file_name);
  const bool judged = architecture == "x86_64" || architecture == "aarch64";
  return judged && !own.empty() && own != architecture;
}

}  // namespace axle::binaries
