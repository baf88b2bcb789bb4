#include "detect/nvidia/cuda_compat.h"

#include <algorithm>
#include <charconv>

#include "foundation/elf/elf_notes.h"

namespace axle::detect {
namespace {

constexpr std::size_t most_numbers = 256;
constexpr std::size_t longest_cuda_version = 16;

bool is_cuda_version(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto digits = [](std::string_view part) {
    return !part.empty() && part.size() <= 3 &&
           part.find_first_not_of("0123456789") == std::string_view::npos;
  };
  return dot != std::string_view::npos && digits(text.substr(0, dot)) &&
         digits(text.substr(dot + 1));
}

/// The subset of JSON that the note uses.
class NoteScanner {
 public:
  explicit NoteScanner(std::string_view text) : rest_(text) {}

  bool take(char wanted) {
    skip_blanks();
    if (!rest_.starts_with(wanted)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  std::optional<std::string_view> take_string() {
    if (!take('"')) return std::nullopt;
    const std::size_t end = rest_.find_first_of("\"\\");
    if (end == std::string_view::npos || rest_[end] == '\\') return std::nullopt;
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return text;
  }

  std::optional<unsigned> take_number() {
    skip_blanks();
    unsigned value = 0;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc{}) return std::nullopt;
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  std::optional<std::vector<unsigned>> take_numbers() {
    if (!take('[')) return std::nullopt;
    std::vector<unsigned> numbers;
    while (!take(']')) {
      const auto number = take_number();
      if (!number || numbers.size() == most_numbers) return std::nullopt;
      numbers.push_back(*number);
      if (!take(',') && !rest_.starts_with(']')) return std::nullopt;
    }
    return numbers;
  }

  /// A value of any of these forms; false for others.
  bool skip_value() {
    if (take_string() || take_numbers()) return true;
    return take_number().has_value();
  }

  [[nodiscard]] bool at_end() {
    skip_blanks();
    return rest_.find_first_not_of('\0') == std::string_view::npos;
  }

 private:
  void skip_blanks() {
    const std::size_t begin = std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size());
    rest_.remove_prefix(begin);
  }

  std::string_view rest_;
};

bool take_member(NoteScanner& scanner, CompatNote& note) {
  const auto key = scanner.take_string();
  if (!key || !scanner.take(':')) return false;
  if (*key == "format") return scanner.take_number() == 1U;
  if (*key == "CUDA version") {
    const auto version = scanner.take_string();
    if (!version || version->size() > longest_cuda_version || !is_cuda_version(*version))
      return false;
    note.cuda_version = *version;
    return true;
  }
  if (*key == "driver") {
    auto branches = scanner.take_numbers();
    if (!branches) return false;
    note.branches = std::move(*branches);
    return true;
  }
  return scanner.skip_value();
}

}  // namespace

std::optional<std::string> find_compat_note(elf::Bytes& library) {
  return elf::find_note(library, compat_note_section, compat_note_owner);
}

std::optional<std::string> read_compat_note(const std::string& path) {
  elf::FileBytes library(path, largest_driver_table);
  return find_compat_note(library);
}

std::optional<CompatNote> parse_compat_note(std::string_view text) {
  NoteScanner scanner(text);
  CompatNote note;
  if (!scanner.take('{')) return std::nullopt;
  while (!scanner.take('}')) {
    if (!take_member(scanner, note)) return std::nullopt;
    if (scanner.take(',')) continue;
    if (!scanner.take('}')) return std::nullopt;
    break;
  }
  if (!scanner.at_end() || note.cuda_version.empty()) return std::nullopt;
  return note;
}

bool is_compat_path(std::string_view path) {
  const std::size_t name = path.rfind('/');
  if (name == std::string_view::npos) return false;
  return path.substr(0, name).find("/compat") != std::string_view::npos;
}

bool allows_branch(const std::vector<unsigned>& branches, std::string_view driver) {
  unsigned branch = 0;
  const auto [end, error] = std::from_chars(driver.data(), driver.data() + driver.size(), branch);
  return error == std::errc{} && std::ranges::find(branches, branch) != branches.end();
}

}  // namespace axle::detect
