#include "detect/drivers/fingerprint.h"

#include <array>
#include <cstdint>
#include <cstdio>

#include "detect/device_node.h"
#include "detect/drivers/driver_fingerprint.h"
#include "detect/text_pieces.h"

namespace axle::detect {
namespace {

constexpr std::size_t longest_value = 200;

/// One line: control characters as %XX, long values as their length and hash.
std::string on_one_line(std::string_view value) {
  if (value.size() > longest_value) {
    return '#' + std::to_string(value.size()) + '-' + short_hash(value);
  }
  std::string text;
  for (const char c : value) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte != '%' && byte != 0x7F) {
      text += c;
      continue;
    }
    std::array<char, 4> escaped;
    std::snprintf(escaped.data(), escaped.size(), "%%%02X", byte);
    text += escaped.data();
  }
  return text;
}

}  // namespace

void Fingerprint::add(std::string_view name, std::string_view value) {
  text_ += name;
  text_ += '\t';
  text_ += on_one_line(value);
  text_ += '\n';
}

void Fingerprint::add_file(const std::string& path) {
  if (const auto content = host_.read_file(path, 4096)) add(path, trim(*content));
}

void Fingerprint::add_stamp(const std::string& path) {
  if (const auto stamp = host_.file_stamp(path)) add(path, *stamp);
}

void Fingerprint::add_folder(const std::string& path) {
  for (const std::string& name : host_.list_folder(path)) add(path, name);
}

void Fingerprint::add_environment(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    if (const auto value = host_.environment(name)) add(name, *value);
  }
}

void Fingerprint::add_node(const std::string& path) {
  switch (look_at_node(host_, path)) {
    case NodeState::missing:
      return;
    case NodeState::refused:
      return add(path, "refused");
    case NodeState::open:
      return add(path, "open");
  }
}

void Fingerprint::add_module(const std::string& module) {
  const std::string folder = "/sys/module/" + module;
  if (!host_.accessible(folder, Access::exists)) return;
  add(folder, std::string(trim(host_.read_file(folder + "/version", 256).value_or(""))) + ' ' +
                  std::string(trim(host_.read_file(folder + "/srcversion", 256).value_or(""))));
}

void Fingerprint::add_library(std::string_view file) {
  for (const std::string& path : libraries_.find_all(file)) add_stamp(path);
}

}  // namespace axle::detect
