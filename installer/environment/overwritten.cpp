#include "installer/environment/overwritten.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "installer/file_access.h"
#include "wheel/requirement.h"

namespace axle::installer {

std::string render_overwritten(const OverwrittenFiles& files) {
  nlohmann::ordered_json document = nlohmann::ordered_json::object();
  for (const auto& [path, owner] : files) document[path] = owner;
  return document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

Result<OverwrittenFiles> parse_overwritten(std::string_view text, std::string_view where) {
  const auto malformed = [&] {
    return fail(ErrorKind::malformed,
                fmt::format("{} does not say which files another package overwrote", where));
  };
  const auto document = nlohmann::json::parse(text, nullptr, false);
  if (!document.is_object()) return malformed();
  OverwrittenFiles files;
  for (const auto& [file, owner] : document.items()) {
    if (!owner.is_string()) return malformed();
    files.emplace(file, wheel::normalize_name(owner.get_ref<const std::string&>()));
  }
  return files;
}

Result<OverwrittenFiles> read_overwritten(const std::string& dist_info) {
  constexpr std::uint64_t limit = 64U << 20;
  const std::string path = fmt::format("{}/{}", dist_info, overwritten_file);
  const auto text = read_if_there(path, limit);
  if (!text) return std::unexpected(text.error());
  if (!*text) return OverwrittenFiles{};
  return parse_overwritten(**text, path);
}

}  // namespace axle::installer
