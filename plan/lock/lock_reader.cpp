#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "foundation/documents/toml_reader.h"
#include "foundation/documents/written_toml.h"
#include "foundation/text/ascii.h"
#include "foundation/text/nearest.h"
#include "foundation/text/quote.h"
#include "index/http/url.h"
#include "plan/lock/lock.h"
#include "plan/lock/lock_checks.h"
#include "wheel/wheel_name.h"

namespace axle::plan {
namespace {

using documents::TomlReading;
using documents::TomlTable;
using RequirementLists = std::map<std::string, std::vector<std::string>, std::less<>>;

constexpr std::string_view made_anew = "`variant lock --upgrade` makes it anew";

/// The line of a mark of git's, counted from 1; 0: there is none. No line of a lock begins so.
std::size_t line_of_conflict(std::string_view text) {
  for (std::size_t line = 1; !text.empty(); ++line) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view own = text.substr(0, end);
    if (own.starts_with("<<<<<<<") || own.starts_with(">>>>>>>") || own.starts_with("|||||||"))
      return line;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return 0;
}

bool is_hexadecimal(std::string_view text, std::size_t digits) {
  return text.size() == digits && std::ranges::all_of(text, [](char c) {
           return text::is_ascii_digit(c) || (c >= 'a' && c <= 'f');
         });
}

bool is_class_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return text::is_ascii_alnum(c) || c == '-' || c == '_';
  });
}

/// "3.12"
bool is_minor_release(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto digits = [](std::string_view part) {
    return !part.empty() && part.size() < 4 && std::ranges::all_of(part, text::is_ascii_digit);
  };
  return dot != std::string_view::npos && digits(text.substr(0, dot)) &&
         digits(text.substr(dot + 1));
}

/// What cannot be a URL of a file or the place of one; empty: it can.
std::string why_no_place(std::string_view place) {
  const bool blank = std::ranges::any_of(
      place, [](char c) { return static_cast<unsigned char>(c) <= ' ' || c == '\x7f'; });
  if (place.empty() || blank) return "it is empty or has blanks";
  const index::UrlParts parts = index::split_url(place);
  if (parts.has_fragment) return "it has a fragment (#…)";
  if (!index::split_authority(parts.authority).user_info.empty()) return "it has a login";
  if (place.starts_with('/')) return "a path is written as file:///path";
  if (parts.scheme.empty()) return {};
  if (index::is_http_url(place) && parts.authority.empty()) return "it names no server";
  if (index::is_http_url(place) || index::is_file_url(place)) return {};
  return "neither http, https nor file, nor relative to the lock's folder";
}

class PackageReader {
 public:
  PackageReader(TomlTable& table, const std::vector<std::string>& classes)
      : table_(table), classes_(classes) {}

  LockedPackage read() {
    LockedPackage package;
    read_name(package);
    package.classes = read_classes();
    read_variant(package);
    package.because = table_.text("because").value_or("");
    package.source = table_.text("source").value_or("");
    if (table_.find("source") != nullptr) check_login("source", package.source);
    package.stands_for = read_names("stands-for");
    package.needs.always = read_requirements(table_, "needs");
    package.needs.extras = read_lists(table_, "extras");
    if (auto from = table_.table("built-from")) {
      package.built_from = read_built_from(*from);
      for (const char* key : {"wheel", "url", "sha256", "size", "provenance", "publishers"}) {
        if (table_.find(key) != nullptr)
          table_.refuse(key, "a package that is built has no wheel", std::string(made_anew));
      }
    } else {
      read_wheel(package);
    }
    table_.finish();
    return package;
  }

  static RequirementLists read_lists(TomlTable& parent, std::string_view key) {
    RequirementLists lists;
    auto table = parent.table(key);
    if (!table) return lists;
    for (const auto& [name, node] : table->node()) {
      const std::string text(name.str());
      if (!wheel::is_valid_name(text) || wheel::normalize_name(text) != text)
        table->refuse(text, "is not a normalised name", std::string(made_anew));
      lists.emplace(text, read_requirements(*table, text));
    }
    return lists;
  }

  static std::vector<std::string> read_requirements(TomlTable& table, std::string_view key) {
    std::vector<std::string> texts = table.texts(key);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      const auto parsed = wheel::parse_requirement(texts[i]);
      if (parsed) continue;
      const toml::array* const array = table.node().get_as<toml::array>(key);
      if (array == nullptr || i >= array->size()) break;
      table.reading().refuse((*array)[i], table.path_of(key), parsed.error().message,
                             std::string(made_anew));
    }
    return texts;
  }

 private:
  void refuse(std::string_view key, std::string_view why) {
    table_.refuse(key, why, std::string(made_anew));
  }

  void check_login(std::string_view key, const std::string& url) {
    if (index::without_credentials(url) == url) return;
    refuse(key, "it has a login, and a lock is shared: a netrc file or a keyring can supply it");
  }

  std::string read_place(TomlTable& table, std::string_view key) {
    std::string place = table.required_text(key);
    if (table.find(key) == nullptr) return place;
    if (const std::string why = why_no_place(place); !why.empty())
      table.refuse(key, fmt::format("is not the place of a file: {}", why), std::string(made_anew));
    return place;
  }

  void read_name(LockedPackage& package) {
    package.name = table_.required_text("name");
    if (table_.find("name") != nullptr && (!wheel::is_valid_name(package.name) ||
                                           wheel::normalize_name(package.name) != package.name))
      refuse("name", fmt::format("{} is not a normalised name", text::quote(package.name)));
    const std::string version = table_.required_text("version");
    auto parsed = wheel::parse_version(version);
    if (parsed) {
      package.version = std::move(*parsed);
    } else {
      refuse("version", parsed.error().message);
    }
  }

  std::vector<std::string> read_classes() {
    if (table_.find("classes") == nullptr) return classes_;
    const std::vector<std::string> given = table_.texts("classes");
    if (given.empty()) refuse("classes", "a package of no class");
    std::vector<std::string> ordered;
    for (const std::string& one : classes_) {
      const auto times = std::ranges::count(given, one);
      if (times > 0) ordered.push_back(one);
      if (times > 1) refuse("classes", fmt::format("class {} is listed twice", one));
    }
    for (const std::string& one : given) {
      if (std::ranges::find(classes_, one) != classes_.end()) continue;
      table_.refuse("classes", fmt::format("there is no class {}", text::quote(one)),
                    text::suggest(one, classes_, made_anew));
    }
    return ordered;
  }

  wheel::VariantProperties read_properties(std::string_view key) {
    wheel::VariantProperties properties;
    for (const std::string& text : table_.texts(key)) {
      auto property = wheel::parse_property(text);
      if (!property) {
        refuse(key, property.error().message);
      } else if (!properties.insert(std::move(*property)).second) {
        refuse(key, fmt::format("{} is listed twice", text::quote(text)));
      }
    }
    return properties;
  }

  void read_variant(LockedPackage& package) {
    package.family = table_.text("family").value_or("");
    package.variant = table_.text("variant");
    package.properties = read_properties("properties");
    package.supported =
        table_.find("supported") == nullptr ? package.properties : read_properties("supported");
    if (!package.variant) {
      for (const char* key : {"family", "properties", "supported"})
        if (table_.find(key) != nullptr)
          refuse(key, "a plain wheel has none: `variant` is missing");
    } else if (!wheel::is_valid_label(*package.variant)) {
      refuse("variant", fmt::format("{} is not a label", text::quote(*package.variant)));
    }
    if (!std::ranges::includes(package.properties, package.supported))
      refuse("supported", "it has a property that `properties` does not have");
  }

  std::vector<std::string> read_names(std::string_view key) {
    std::vector<std::string> names = table_.texts(key);
    for (const std::string& name : names) {
      if (!wheel::is_valid_name(name) || wheel::normalize_name(name) != name)
        refuse(key, fmt::format("{} is not a normalised name", text::quote(name)));
    }
    return names;
  }

  std::string read_sha256(TomlTable& table) {
    std::string digits = table.required_text("sha256");
    if (table.find("sha256") != nullptr && !is_hexadecimal(digits, 64))
      table.refuse("sha256", "a sha256 has 64 hexadecimal digits, in lower case",
                   std::string(made_anew));
    return digits;
  }

  void read_wheel(LockedPackage& package) {
    package.filename = table_.required_text("wheel");
    package.url = read_place(table_, "url");
    package.sha256 = read_sha256(table_);
    if (const toml::node* size = table_.find("size")) {
      const auto number = size->value_exact<std::int64_t>();
      if (number && *number >= 0) {
        package.size = static_cast<std::uint64_t>(*number);
      } else {
        refuse("size", "expected a number of bytes");
      }
    }
    package.provenance = table_.text("provenance").value_or("");
    if (table_.find("provenance") != nullptr) {
      if (const std::string why = why_no_place(package.provenance); !why.empty())
        refuse("provenance", fmt::format("is not a URL: {}", why));
    }
    package.publishers = table_.texts("publishers");
    check_wheel_name(package);
  }

  /// What the file's name says must be what the entry says.
  void check_wheel_name(const LockedPackage& package) {
    if (table_.find("wheel") == nullptr || table_.reading().error()) return;
    const auto name = wheel::parse_wheel_name(package.filename);
    if (!name) return refuse("wheel", name.error().message);
    const std::string label = package.family.empty() ? package.variant.value_or("") : "";
    if (wheel::normalize_name(name->distribution) != package.name ||
        name->version != package.version) {
      refuse("wheel", fmt::format("{} is not of {} {}", text::quote(package.filename), package.name,
                                  wheel::render_version(package.version)));
    } else if (name->label != label) {
      refuse("wheel", label.empty() ? fmt::format("its label is {}, and `variant` says none",
                                                  text::quote(name->label))
                                    : fmt::format("its label is {}, and `variant` says {}",
                                                  text::quote(name->label), text::quote(label)));
    }
  }

  BuiltFrom read_built_from(TomlTable& table) {
    BuiltFrom from;
    const std::string kind = table.required_text("kind");
    if (table.find("kind") != nullptr && kind != "file" && kind != "folder" && kind != "repository")
      table.refuse("kind", "expected file, folder or repository", std::string(made_anew));
    from.filename = table.required_text("name");
    from.subdirectory = table.text("subdirectory").value_or("");
    from.editable = table.flag("editable").value_or(false);
    if (kind == "repository") {
      from.kind = BuiltFrom::Kind::repository;
      from.url = table.required_text("url");
      check_repository(table, from);
    } else {
      from.url = read_place(table, "url");
      from.kind = kind == "folder" ? BuiltFrom::Kind::folder : BuiltFrom::Kind::file;
      if (from.kind == BuiltFrom::Kind::file) from.sha256 = read_sha256(table);
    }
    if (from.editable && from.kind != BuiltFrom::Kind::folder)
      table.refuse("editable", "only a folder can be", std::string(made_anew));
    table.finish();
    return from;
  }

  void check_repository(TomlTable& table, BuiltFrom& from) {
    // A name alone is no secret: ssh://git@host/….
    const auto authority = index::split_authority(index::split_url(from.url).authority);
    if (authority.user_info.contains(':'))
      table.refuse("url", "it has a password, and a lock is shared", std::string(made_anew));
    if (std::ranges::any_of(from.url,
                            [](char c) { return static_cast<unsigned char>(c) <= ' '; }) ||
        from.url.starts_with('-'))
      table.refuse("url", "is not the URL of a repository", std::string(made_anew));
    from.revision = table.text("revision").value_or("");
    from.commit = table.required_text("commit");
    const bool known = is_hexadecimal(from.commit, 40) || is_hexadecimal(from.commit, 64);
    if (table.find("commit") != nullptr && !known)
      table.refuse("commit", "a commit has 40 or 64 hexadecimal digits", std::string(made_anew));
  }

  TomlTable& table_;
  const std::vector<std::string>& classes_;
};

LockedClass read_class(TomlTable& table) {
  LockedClass one;
  one.name = table.required_text("name");
  if (table.find("name") != nullptr && !is_class_name(one.name))
    table.refuse("name", "a class has a name of letters, digits, - and _", std::string(made_anew));
  one.machine = table.required_text("machine");
  one.python = table.required_text("python");
  if (table.find("python") != nullptr && !is_minor_release(one.python))
    table.refuse("python", "expected a minor release, as in \"3.12\"", std::string(made_anew));
  one.python_releases = table.text("python-releases").value_or("");
  if (const auto releases = wheel::parse_specifiers(one.python_releases); !releases)
    table.refuse("python-releases", releases.error().message, std::string(made_anew));
  one.holds = table.required_text("holds");
  table.finish();
  return one;
}

Lock read_lock(TomlTable top) {
  Lock lock;
  LockTables tables{std::move(top), {}, {}};
  if (!tables.top.has_schema(lock_schema)) return lock;
  lock.made_by = tables.top.required_text("made-by");
  lock.requires_python = tables.top.text("requires-python").value_or("");
  if (const auto python = wheel::parse_specifiers(lock.requires_python); !python)
    tables.top.refuse("requires-python", python.error().message, std::string(made_anew));
  lock.inputs = tables.top.required_text("inputs");
  if (tables.top.find("inputs") != nullptr && !is_hexadecimal(lock.inputs, 64))
    tables.top.refuse("inputs", "expected 64 hexadecimal digits", std::string(made_anew));
  if (auto requests = tables.top.table("requests")) {
    lock.requests.project = PackageReader::read_requirements(*requests, "project");
    lock.requests.extras = PackageReader::read_lists(*requests, "extras");
    lock.requests.groups = PackageReader::read_lists(*requests, "groups");
    requests->finish();
  } else {
    tables.top.refuse("requests", "the table is missing", std::string(made_anew));
  }
  tables.classes = tables.top.tables("class");
  if (tables.classes.empty())
    tables.top.refuse("class", "there is no class of machines", std::string(made_anew));
  std::vector<std::string> classes;
  for (TomlTable& table : tables.classes)
    classes.push_back(lock.classes.emplace_back(read_class(table)).name);
  check_classes(lock, tables);
  tables.packages = tables.top.tables("package");
  for (TomlTable& table : tables.packages)
    lock.packages.push_back(PackageReader(table, classes).read());
  tables.top.finish();
  if (tables.top.reading().error()) return lock;
  check_files(lock, tables);
  check_needs(lock, tables);
  // Those of one name stay in their order; a lock that Axle wrote is sorted.
  for (auto next = lock.packages.begin(); next != lock.packages.end(); ++next) {
    const auto place =
        std::ranges::upper_bound(lock.packages.begin(), next, next->name, {}, &LockedPackage::name);
    std::rotate(place, next, next + 1);
  }
  return lock;
}

}  // namespace

const LockedClass* Lock::find_class(std::string_view name) const {
  const auto found = std::ranges::find(classes, name, &LockedClass::name);
  return found == classes.end() ? nullptr : &*found;
}

bool LockedPackage::is_in(std::string_view class_name) const {
  return std::ranges::find(classes, class_name) != classes.end();
}

Result<Lock> parse_lock(std::string_view text, const std::string& where) {
  if (const std::size_t line = line_of_conflict(text); line != 0) {
    return fail(ErrorKind::malformed,
                fmt::format("{}:{}: it has the conflict markers of a merge that is not finished",
                            where, line),
                "`variant lock --upgrade` makes it anew from the merged pyproject.toml");
  }
  // An error names a line, which only the other reader knows.
  if (const auto written = documents::parse_written_toml(text)) {
    TomlReading reading(where);
    Lock lock = read_lock(TomlTable(*written, "", reading));
    if (!reading.error()) return lock;
  }
  auto document = documents::parse_toml(text, where);
  if (!document) return std::unexpected(std::move(document).error());
  TomlReading reading(where);
  Lock lock = read_lock(TomlTable(*document, "", reading));
  if (reading.error()) return std::unexpected(*reading.error());
  return lock;
}

}  // namespace axle::plan
