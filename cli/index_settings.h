#pragma once
// Where the index comes from. Axle has no default index of its own: it takes what pip or uv would
// take.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli/options.h"
#include "report/error.h"
#include "report/report.h"

namespace axle::cli {

struct IndexSettings {
  std::string index_url;  ///< empty with no_index, or when nothing says one
  std::vector<std::string> extra_index_urls;
  std::vector<std::string> find_links;
  bool no_index = false;
  std::string ca_file;
  std::string http_proxy;   ///< for http URLs
  std::string https_proxy;  ///< for https URLs
  std::string no_proxy;
  unsigned timeout_seconds = 15;
  std::vector<std::string> trusted_hosts;
  std::string index_origin;  ///< who said index_url: "--index-url", "PIP_INDEX_URL", a file, …
};

/// The keys of one place (environment, file), as pip spells them: "index-url" -> values.
struct SettingsLayer {
  std::string origin;
  std::map<std::string, std::vector<std::string>, std::less<>> values;
};

/// pip's configuration format: sections [global] and [install], the latter winning; indented lines
/// continue a value. `where` is named in errors. Error: malformed, with the line.
[[nodiscard]] Result<SettingsLayer> parse_pip_config(std::string_view text, std::string where);

/// uv.toml: `index-url`, `extra-index-url`, `find-links`, `no-index`, `[[index]]`; other keys are
/// uv's.
[[nodiscard]] Result<SettingsLayer> parse_uv_config(std::string_view text, std::string where);

/// Of each setting the first layer that says it: options, PIP_*, UV_*, pip's files, uv's files.
/// `python_prefix`: of the target environment, for its own pip.conf; may be empty.
[[nodiscard]] IndexSettings read_index_settings(const Arguments& arguments,
                                                const std::string& python_prefix, Report& report);

}  // namespace axle::cli
