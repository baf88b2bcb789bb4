#include "session/builds/metadata_wheel.h"

#include <algorithm>
#include <array>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>

#include "foundation/documents/toml_reader.h"
#include "installer/file_access.h"
#include "session/builds/told_program.h"
#include "wheel/core_metadata.h"
#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::session {

const char* const metadata_wheel_script = R"python(
def write_metadata_wheel(folder, metadata):
    import base64, email, hashlib, os, re, zipfile
    said = email.message_from_bytes(metadata)
    # "1.0-1" is how a post-release may be written, but not in the name of a wheel.
    version = re.sub(r"-([0-9]+)$", r".post\1", said["Version"].strip())
    stem = "%s-%s" % (re.sub("[-_.]+", "_", said["Name"].strip()), version)
    record = ""
    name = stem + "-py3-none-any.whl"
    def add(wheel, part, content):
        path = "%s.dist-info/%s" % (stem, part)
        entry = zipfile.ZipInfo(path)
        entry.external_attr = 0o644 << 16
        wheel.writestr(entry, content)
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
        return "%s,sha256=%s,%d\n" % (path, digest.decode(), len(content))
    with zipfile.ZipFile(os.path.join(folder, name), "w") as wheel:
        record += add(wheel, "METADATA", metadata)
        record += add(wheel, "WHEEL", b"Wheel-Version: 1.0\nGenerator: axle\n"
                                      b"Root-Is-Purelib: true\nTag: py3-none-any\n")
        add(wheel, "RECORD", ("%s%s.dist-info/RECORD,,\n" % (record, stem)).encode())
    return name
)python";

namespace {

constexpr std::size_t longest_file = 1U << 20;

bool is_any_of(std::string_view text, std::span<const std::string_view> all) {
  return std::ranges::find(all, text) != all.end();
}

/// The texts of an array; nullopt: it is none, or not only of texts.
std::optional<std::vector<std::string>> texts_in(const toml::node* node) {
  std::vector<std::string> texts;
  if (node == nullptr) return texts;
  const toml::array* array = node->as_array();
  if (array == nullptr) return std::nullopt;
  for (const toml::node& one : *array) {
    auto text = one.value_exact<std::string>();
    if (!text) return std::nullopt;
    texts.push_back(std::move(*text));
  }
  return texts;
}

/// The lines of `texts` as requirements that an extra adds; "": of the project itself.
bool add_requirements(const std::vector<std::string>& texts, std::string_view extra,
                      std::string& metadata) {
  for (const std::string& text : texts) {
    auto requirement = wheel::parse_requirement(text);
    if (!requirement) return false;
    if (!extra.empty()) {
      std::string marker = fmt::format("extra == \"{}\"", extra);
      if (requirement->marker)
        marker = fmt::format("({}) and {}", requirement->marker->render(), marker);
      auto parsed = wheel::parse_marker(marker);
      if (!parsed) return false;
      requirement->marker = std::move(*parsed);
    }
    metadata += fmt::format("Requires-Dist: {}\n", wheel::render_requirement(*requirement));
  }
  return true;
}

/// Of the table [project].
std::optional<std::string> metadata_of(const toml::table& document) {
  const toml::table* const stated = document["project"].as_table();
  if (stated == nullptr) return std::nullopt;
  const toml::table& project = *stated;
  constexpr std::array<std::string_view, 5> decisive = {"name", "version", "dependencies",
                                                        "optional-dependencies", "requires-python"};
  const auto dynamic = texts_in(project.get("dynamic"));
  if (!dynamic || std::ranges::any_of(*dynamic, [&](const std::string& field) {
        return is_any_of(field, decisive);
      }))
    return std::nullopt;
  const auto name = project["name"].value_exact<std::string>();
  const auto version = project["version"].value_exact<std::string>();
  if (!name || !wheel::is_valid_name(*name) || !version || !wheel::parse_version(*version))
    return std::nullopt;
  std::string metadata = fmt::format("Metadata-Version: 2.1\nName: {}\nVersion: {}\n", *name,
                                     wheel::render_version(*wheel::parse_version(*version)));
  if (const toml::node* python = project.get("requires-python")) {
    const auto text = python->value_exact<std::string>();
    const auto specifiers = text ? wheel::parse_specifiers(*text) : std::unexpected(Error());
    if (!specifiers) return std::nullopt;
    metadata += fmt::format("Requires-Python: {}\n", wheel::render_specifiers(*specifiers));
  }
  // Before poetry read [project] it had a table of its own, and reads that where this is silent.
  const toml::node* listed = project.get("dependencies");
  if (listed == nullptr && document["tool"]["poetry"].is_table()) return std::nullopt;
  const auto dependencies = texts_in(listed);
  if (!dependencies || !add_requirements(*dependencies, {}, metadata)) return std::nullopt;
  const toml::node* extras = project.get("optional-dependencies");
  if (extras == nullptr) return metadata;
  if (!extras->is_table()) return std::nullopt;
  std::set<std::string> known;
  for (const auto& [key, value] : *extras->as_table()) {
    const std::string extra = wheel::normalize_name(key.str());
    const auto texts = texts_in(&value);
    // Two extras of one normalised name: the backend decides what they are.
    if (!texts || !wheel::is_valid_name(key.str()) || !known.insert(extra).second)
      return std::nullopt;
    metadata += fmt::format("Provides-Extra: {}\n", extra);
    if (!add_requirements(*texts, extra, metadata)) return std::nullopt;
  }
  return metadata;
}

/// Of a PKG-INFO from version 2.2 on: before, everything might be dynamic.
std::optional<std::string> metadata_of(std::string text) {
  constexpr std::array<std::string_view, 4> decisive = {"version", "requires-dist",
                                                        "requires-python", "provides-extra"};
  const auto read = wheel::parse_core_metadata(text, "PKG-INFO");
  if (!read) return std::nullopt;
  const auto version = wheel::parse_version(read->metadata_version);
  if (!version || *version < *wheel::parse_version("2.2")) return std::nullopt;
  for (const auto& [field, value] : read->fields) {
    if (wheel::normalize_name(field) == "dynamic" &&
        is_any_of(wheel::normalize_name(value), decisive))
      return std::nullopt;
  }
  return text;
}

}  // namespace

std::optional<std::string> stated_metadata(const std::string& folder, bool is_packed) {
  if (is_packed) {
    auto text = installer::read_file(folder + "/PKG-INFO", longest_file);
    auto metadata = text ? metadata_of(std::move(*text)) : std::nullopt;
    if (metadata) return metadata;
  }
  const std::string file = folder + "/pyproject.toml";
  const auto text = installer::read_file(file, longest_file);
  if (!text) return std::nullopt;
  const auto document = documents::parse_toml(*text, file);
  return document ? metadata_of(*document) : std::nullopt;
}

Result<void> write_metadata_wheel(const std::string& python, const std::string& metadata,
                                  const std::string& folder, const std::string& scratch,
                                  std::chrono::milliseconds time_limit, Report& report) {
  const std::string file = scratch + "/METADATA";
  if (auto written = installer::create_file(AT_FDCWD, file, metadata, false); !written)
    return std::unexpected(std::move(written).error());
  const std::string script = fmt::format(
      "{}\nimport sys\nwith open(sys.argv[2], 'rb') as file:\n"
      "    write_metadata_wheel(sys.argv[1], file.read())\n",
      metadata_wheel_script);
  const ToldProgram writing{{{python, "-I", "-c", script, folder, file}}, "Python", time_limit};
  return run_told(writing, "the metadata could not be written", report);
}

}  // namespace axle::session
