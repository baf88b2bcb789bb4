#include "index/upload/upload_form.h"

#include <array>
#include <set>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "wheel/core_metadata.h"
#include "wheel/hash/sha256.h"

namespace axle::index {
namespace {

/// Names of the form that are not those of METADATA in lower case.
constexpr std::array<std::pair<std::string_view, std::string_view>, 2> other_names = {
    {{"classifier", "classifiers"}, {"project_url", "project_urls"}}};

std::string form_name(std::string_view field) {
  std::string name = text::ascii_lower(field);
  for (char& c : name) {
    if (c == '-') c = '_';
  }
  for (const auto& [from, to] : other_names) {
    if (name == from) return std::string(to);
  }
  return name;
}

/// The interpreter of the tags: "py3", "cp312".
std::string python_tag(const wheel::WheelName& name) {
  return name.tags_text.substr(0, name.tags_text.find('-'));
}

/// A quote or a line end would end the name; is_sound_file_name allows neither the latter.
std::string escaped_name(std::string_view text) {
  std::string result;
  for (const char c : text) {
    if (c == '"' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

}  // namespace

Result<FormFields> upload_fields(const ScannedWheel& wheel) {
  const auto metadata = wheel::parse_core_metadata(wheel.metadata_text, wheel.path);
  if (!metadata) return std::unexpected(metadata.error());
  FormFields fields = {{":action", "file_upload"},
                       {"protocol_version", "1"},
                       {"filetype", "bdist_wheel"},
                       {"pyversion", python_tag(wheel.name)},
                       {"sha256_digest", wheel.sha256}};
  bool described = false;
  for (const auto& [field, value] : metadata->fields) {
    fields.emplace_back(form_name(field), value);
    described = described || fields.back().first == "description";
  }
  if (!described && !metadata->description.empty())
    fields.emplace_back("description", metadata->description);
  return fields;
}

UploadForm render_upload(const FormFields& fields, const ScannedWheel& wheel) {
  // No field has it: it would have its own hash inside. Of the file only the index could say so,
  // which reads as far as the last one.
  std::string all = wheel.sha256;
  for (const auto& [name, value] : fields) all += name + value;
  const std::string boundary = "----axle-" + wheel::render_hex(wheel::sha256(all)).substr(0, 40);
  UploadForm form;
  form.content_type = "multipart/form-data; boundary=" + boundary;
  for (const auto& [name, value] : fields) {
    form.before += fmt::format("--{}\r\nContent-Disposition: form-data; name=\"{}\"\r\n\r\n{}\r\n",
                               boundary, escaped_name(name), value);
  }
  form.before += fmt::format(
      "--{}\r\nContent-Disposition: form-data; name=\"content\"; filename=\"{}\"\r\nContent-Type: "
      "application/octet-stream\r\n\r\n",
      boundary, escaped_name(wheel.filename));
  form.after = fmt::format("\r\n--{}--\r\n", boundary);
  return form;
}

}  // namespace axle::index
