#include "index/publish/index_pages.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "foundation/text/html.h"
#include "foundation/text/rfc3339.h"
#include "index/http/url.h"

namespace axle::index {
namespace {

using nlohmann::ordered_json;

/// PEP 740 is from 1.3 on.
constexpr const char* api_version = "1.3";

std::string finish_json(const ordered_json& page) {
  return page.dump(1, ' ', false, ordered_json::error_handler_t::replace) + '\n';
}

std::string wrap_html(std::string_view title, std::string_view links) {
  return fmt::format(
      "<!DOCTYPE html>\n<html>\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"pypi:repository-version\" content=\"{}\">\n<title>{}</title>\n</head>\n<body>\n"
      "<h1>{}</h1>\n{}</body>\n</html>\n",
      api_version, title, title, links);
}

std::string link_of(const ListedFile& file) {
  return file.url.empty() ? percent_encode(file.filename, false) : file.url;
}

std::string provenance_link(const ListedFile& file) {
  return file.provenance_url.empty() ? percent_encode(provenance_name(file.filename), false)
                                     : file.provenance_url;
}

}  // namespace

std::string render_project_json(std::string_view project, const std::vector<std::string>& versions,
                                const std::vector<ListedFile>& files) {
  ordered_json list = ordered_json::array();
  for (const ListedFile& file : files) {
    ordered_json entry = {{"filename", file.filename},
                          {"url", link_of(file)},
                          {"hashes", {{"sha256", file.sha256}}},
                          {"size", file.size}};
    if (!file.requires_python.empty()) entry["requires-python"] = file.requires_python;
    if (!file.metadata_sha256.empty()) {
      entry["core-metadata"] = ordered_json{{"sha256", file.metadata_sha256}};
    }
    if (file.has_provenance) entry["provenance"] = provenance_link(file);
    if (file.uploaded) entry["upload-time"] = text::render_rfc3339(*file.uploaded);
    if (file.yanked && file.yanked->empty()) entry["yanked"] = true;
    if (file.yanked && !file.yanked->empty()) entry["yanked"] = *file.yanked;
    list.push_back(std::move(entry));
  }
  return finish_json({{"meta", {{"api-version", api_version}}},
                      {"name", project},
                      {"versions", versions},
                      {"files", std::move(list)}});
}

std::string render_project_html(std::string_view project, const std::vector<ListedFile>& files) {
  std::string links;
  for (const ListedFile& file : files) {
    links += fmt::format("<a href=\"{}#sha256={}\"", text::escape_html(link_of(file)), file.sha256);
    if (!file.requires_python.empty()) {
      links += fmt::format(" data-requires-python=\"{}\"", text::escape_html(file.requires_python));
    }
    if (!file.metadata_sha256.empty()) {
      links += fmt::format(" data-core-metadata=\"sha256={}\"", file.metadata_sha256);
    }
    if (file.has_provenance) {
      links += fmt::format(" data-provenance=\"{}\"", text::escape_html(provenance_link(file)));
    }
    if (file.yanked) links += fmt::format(" data-yanked=\"{}\"", text::escape_html(*file.yanked));
    links += fmt::format(">{}</a><br>\n", text::escape_html(file.filename));
  }
  return wrap_html("Links for " + text::escape_html(project), links);
}

// As the others are, but a root may have a hundred thousand names, which need no escapes.
std::string render_root_json(const std::vector<std::string>& projects) {
  std::string text = fmt::format(
      "{{\n \"meta\": {{\n  \"api-version\": \"{}\"\n }},\n \"projects\": [", api_version);
  bool first = true;
  for (const std::string& project : projects) {
    text += first ? "\n  {\n   \"name\": \"" : ",\n  {\n   \"name\": \"";
    text += project;
    text += "\"\n  }";
    first = false;
  }
  text += projects.empty() ? "]\n}\n" : "\n ]\n}\n";
  return text;
}

std::string render_root_html(const std::vector<std::string>& projects) {
  std::string links;
  for (const std::string& project : projects) {
    links += fmt::format("<a href=\"{0}/\">{0}</a><br>\n", project);
  }
  return wrap_html("Simple index", links);
}

}  // namespace axle::index
