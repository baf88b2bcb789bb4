#include "wheel/zip/member_name.h"

#include <algorithm>
#include <numeric>

#include "foundation/text/utf8.h"
#include "wheel/name_folding.h"

namespace axle::wheel {
namespace {

constexpr std::size_t longest_part = 255;  // NAME_MAX of every file system that matters

/// C0, DEL and, in UTF-8, C1 control characters and line separators.
bool has_control_character(std::string_view name) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const auto byte = static_cast<unsigned char>(name[i]);
    if (byte < 0x20 || byte == 0x7F) return true;
    // U+2028 and U+2029 end lines for Python, which reads RECORD by lines.
    if (name.substr(i).starts_with("\xE2\x80\xA8") || name.substr(i).starts_with("\xE2\x80\xA9"))
      return true;
    if (byte == 0xC2 && i + 1 < name.size() && static_cast<unsigned char>(name[i + 1]) < 0xA0) {
      return true;
    }
  }
  return false;
}

std::string part_problem(std::string_view part) {
  if (part.empty()) return "has an empty part";
  if (part == ".") return "has a \".\" part";
  if (part == "..") return "has a \"..\" part";
  if (part.size() > longest_part) return "has a part of more than 255 bytes";
  return {};
}

bool has_drive_letter(std::string_view name) {
  return name.size() >= 2 && name[1] == ':' &&
         ((name[0] >= 'A' && name[0] <= 'Z') || (name[0] >= 'a' && name[0] <= 'z'));
}

/// The key by which names collide: folded as far as fold_name does, no final "/", no dots and
/// blanks at the end of a part (Windows drops them), and "/" sorted below every other character
/// that a name can have, so that what lies below a file follows it directly.
std::string collision_key(std::string_view written) {
  const std::string name =
      fold_name(written.ends_with('/') ? written.substr(0, written.size() - 1) : written);
  std::string key;
  key.reserve(name.size());
  const auto end_part = [&key] {
    while (key.ends_with('.') || key.ends_with(' ')) key.pop_back();
  };
  for (const char c : name) {
    if (c == '/') {
      end_part();
      key += '\x01';
    } else {
      key += c;
    }
  }
  end_part();
  return key;
}

}  // namespace

std::string member_name_problem(std::string_view name) {
  if (name.empty()) return "is empty";
  if (!text::is_valid_utf8(name)) return "is not valid UTF-8";
  if (has_control_character(name)) return "has a control character";
  if (name.find('\\') != std::string_view::npos) return "has a backslash";
  if (name.starts_with('/')) return "is an absolute path";
  if (has_drive_letter(name)) return "has a drive letter";
  if (name.ends_with('/')) name.remove_suffix(1);
  while (true) {
    const std::size_t slash = name.find('/');
    if (std::string problem = part_problem(name.substr(0, slash)); !problem.empty()) return problem;
    if (slash == std::string_view::npos) return {};
    name.remove_prefix(slash + 1);
  }
}

std::optional<NameCollision> find_name_collision(const std::vector<std::string_view>& names) {
  std::vector<std::string> keys;
  keys.reserve(names.size());
  for (const std::string_view name : names) keys.push_back(collision_key(name));
  std::vector<std::size_t> order(names.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return std::string_view(keys[i]); });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const std::size_t upper = order[i - 1];
    const std::size_t lower = order[i];
    const bool equal = keys[upper] == keys[lower];
    const bool folders = names[upper].ends_with('/') && names[lower].ends_with('/');
    const bool files = !names[upper].ends_with('/') && !names[lower].ends_with('/');
    const bool below = !names[upper].ends_with('/') && keys[lower].size() > keys[upper].size() &&
                       keys[lower].starts_with(keys[upper]) &&
                       keys[lower][keys[upper].size()] == '\x01';
    if (!equal && !below) continue;
    const bool nested = below || !(folders || files);
    return NameCollision{std::min(upper, lower), std::max(upper, lower), nested};
  }
  return std::nullopt;
}

}  // namespace axle::wheel
