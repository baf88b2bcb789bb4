#include "session/settings/machine_classes.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/core.h>

#include "foundation/text/ascii.h"
#include "foundation/text/byte_size.h"
#include "foundation/text/quote.h"

namespace axle::session {

namespace {

constexpr std::string_view forms_of_a_class =
    "for example train = \"h100\", or train = { machine = \"h100\", python = \"3.12\" }";

constexpr std::string_view form_of_a_name =
    "a name consists of letters, digits, - and _, and begins with no -";

/// It becomes part of the names of folders and files.
bool is_class_name(std::string_view name) {
  constexpr std::size_t longest = 60;
  return !name.empty() && name.size() <= longest && name[0] != '-' &&
         std::ranges::all_of(
             name, [](char c) { return text::is_ascii_alnum(c) || c == '-' || c == '_'; });
}

/// What file systems, and people, may take for the same.
std::string folded(std::string_view name) {
  std::string folded = text::ascii_lower(name);
  std::ranges::replace(folded, '_', '-');
  return folded;
}

/// "3.12"
bool is_minor_release(std::string_view python) {
  constexpr std::string_view major = "3.";
  if (!python.starts_with(major)) return false;
  const std::string_view minor = python.substr(major.size());
  unsigned number = 0;
  const auto parsed = std::from_chars(minor.data(), minor.data() + minor.size(), number);
  constexpr unsigned most = 255;
  return parsed.ec == std::errc() && parsed.ptr == minor.data() + minor.size() && number <= most &&
         (minor.size() == 1 || minor[0] != '0');
}

class ClassReader {
 public:
  explicit ClassReader(documents::TomlTable& table) : table_(table) {}

  std::vector<MachineClass> read() {
    std::vector<std::pair<toml::source_position, std::string>> names;
    for (const auto& [key, node] : table_.node())
      names.emplace_back(key.source().begin, std::string(key.str()));
    std::ranges::sort(names);
    for (const auto& [position, name] : names) take(name);
    return std::move(classes_);
  }

 private:
  void take(const std::string& name) {
    if (!is_class_name(name)) {
      return table_.refuse(name,
                           fmt::format("{} is not a valid name of a class", text::quote(name)),
                           std::string(form_of_a_name));
    }
    const auto [known, is_new] = seen_.emplace(folded(name), name);
    if (!is_new) {
      return table_.refuse(name,
                           fmt::format("the class has the name of another one: {}", known->second),
                           "rename one of them: capitals, - and _ make no difference");
    }
    MachineClass made{.name = name};
    made.origin = table_.reading().place(*table_.node().get(name));
    if (table_.node().get(name)->is_string()) {
      made.machine = table_.text(name).value_or("");
    } else if (table_.node().get(name)->is_table()) {
      take_table(name, made);
    } else {
      return table_.refuse(name, "expected the name of a machine, or a table",
                           std::string(forms_of_a_class));
    }
    if (text::trim_ascii(made.machine).empty())
      return table_.refuse(name, "the class names no machine", std::string(forms_of_a_class));
    if (is_this_machine(made.machine)) made.machine = "this";
    classes_.push_back(std::move(made));
  }

  void take_table(const std::string& name, MachineClass& made) {
    auto table = table_.table(name);
    if (!table) return;
    made.machine = table->required_text("machine");
    made.python = stated(*table, "python");
    made.platform = stated(*table, "platform");
    made.backend = stated(*table, "backend");
    made.budget = read_budget(*table);
    if (!made.python.empty() && !is_minor_release(made.python)) {
      table->refuse("python",
                    fmt::format("{} is not a minor release of Python", text::quote(made.python)),
                    "for example \"3.12\"");
    }
    table->finish();
  }

  static std::string stated(documents::TomlTable& table, std::string_view key) {
    const auto value = table.text(key);
    if (value && value->empty()) table.refuse(key, "it is empty", "say something, or remove it");
    return value.value_or("");
  }

  documents::TomlTable& table_;
  std::map<std::string, std::string, std::less<>> seen_;  ///< folded, as written
  std::vector<MachineClass> classes_;
};

}  // namespace

bool is_this_machine(std::string_view machine) {
  constexpr std::array<std::string_view, 3> names = {"this", "this one", "this machine"};
  const std::string lowered = text::ascii_lower(text::trim_ascii(machine));
  return std::ranges::find(names, lowered) != names.end();
}

Result<MachineClass> parse_machine_class(std::string_view text) {
  const std::size_t equals = std::min(text.find('='), text.size());
  const std::string_view name = text::trim_ascii(text.substr(0, equals));
  if (!is_class_name(name)) {
    return fail(ErrorKind::malformed,
                fmt::format("{} is not a valid name of a class", text::quote(name)),
                std::string(form_of_a_name));
  }
  MachineClass made{.name = std::string(name)};
  if (equals < text.size()) made.machine = text::trim_ascii(text.substr(equals + 1));
  if (made.machine.empty()) {
    return fail(ErrorKind::malformed, fmt::format("the class {} names no machine", name),
                "for example train=h100, or laptop=none");
  }
  if (is_this_machine(made.machine)) made.machine = "this";
  return made;
}

std::optional<std::uint64_t> read_budget(documents::TomlTable& table) {
  const auto value = table.text("budget");
  if (!value) return std::nullopt;
  const auto bytes = text::parse_bytes(*value);
  if (!bytes || *bytes == 0) {
    table.refuse("budget", fmt::format("{} is not a size", text::quote(*value)),
                 "for example \"3GB\" or \"800MB\"");
    return std::nullopt;
  }
  return bytes;
}

std::vector<MachineClass> read_machine_classes(documents::TomlTable& axle) {
  auto table = axle.table("machines");
  if (!table) return {};
  if (table->node().empty()) {
    axle.refuse("machines", "it names no class", std::string(forms_of_a_class));
    return {};
  }
  return ClassReader(*table).read();
}

}  // namespace axle::session
