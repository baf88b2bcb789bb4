#include "session/direct_url.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace axle::session {

namespace {

using nlohmann::json;

/// nullptr: it is missing, or `object` is none.
const json* member(const json* object, const char* key) {
  if (object == nullptr || !object->is_object()) return nullptr;
  const auto found = object->find(key);
  return found == object->end() ? nullptr : &*found;
}

std::string text_at(const json* object, const char* key) {
  const json* value = member(object, key);
  return value != nullptr && value->is_string() ? value->get<std::string>() : std::string();
}

/// `freeze` writes it into a line of a file that others read.
bool is_one_line(std::string_view text) {
  return std::ranges::none_of(
      text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

bool is_hexadecimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
}

}  // namespace

DirectUrl read_direct_url(std::string_view text) {
  DirectUrl direct;
  if (text.empty()) return direct;
  const json document = json::parse(text, nullptr, false);
  direct.url = text_at(&document, "url");
  if (!is_one_line(direct.url)) return {};
  if (const json* archive = member(&document, "archive_info"); archive != nullptr) {
    const json* hashes = member(archive, "hashes");
    if (hashes != nullptr && hashes->is_object()) {
      for (const auto& [algorithm, digits] : hashes->items()) {
        const std::string hex = digits.is_string() ? digits.get<std::string>() : std::string();
        if (is_hexadecimal(hex)) direct.hashes[algorithm] = hex;
      }
    }
    // What PEP 610 had first: "sha256=…".
    const std::string hash = text_at(archive, "hash");
    const std::size_t equals = hash.find('=');
    if (equals != std::string::npos && is_hexadecimal(std::string_view(hash).substr(equals + 1)))
      direct.hashes.try_emplace(hash.substr(0, equals), hash.substr(equals + 1));
  }
  if (const json* folder = member(&document, "dir_info"); folder != nullptr) {
    direct.folder = true;
    const json* editable = member(folder, "editable");
    direct.editable = editable != nullptr && editable->is_boolean() && editable->get<bool>();
  }
  if (const json* vcs = member(&document, "vcs_info"); vcs != nullptr && vcs->is_object()) {
    direct.repository = true;
    direct.vcs = text_at(vcs, "vcs");
    direct.commit = text_at(vcs, "commit_id");
    if (!is_one_line(direct.vcs)) direct.vcs.clear();
    if (!is_one_line(direct.commit)) direct.commit.clear();
  }
  direct.subdirectory = text_at(&document, "subdirectory");
  if (!is_one_line(direct.subdirectory)) direct.subdirectory.clear();
  return direct;
}

}  // namespace axle::session
