#include "session/settings/configured_indexes.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "session/variables.h"

namespace axle::session {

namespace {

std::string percent_encode(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("-._~").contains(c);
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

/// uv's: UV_INDEX_NAME_USERNAME and UV_INDEX_NAME_PASSWORD, if the URL has no credentials.
void add_credentials(ConfiguredIndex& index) {
  const std::size_t scheme = index.url.find("://");
  if (index.name.empty() || !index.url.starts_with("http") || scheme == std::string::npos) return;
  const std::size_t host = scheme + 3;
  if (std::string_view(index.url).substr(host, index.url.find('/', host) - host).contains('@'))
    return;
  std::string name;
  for (const char c : index.name) {
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    name += !letter ? '_' : c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  }
  const std::string user = variable("UV_INDEX_" + name + "_USERNAME");
  const std::string password = variable("UV_INDEX_" + name + "_PASSWORD");
  if (user.empty() && password.empty()) return;
  index.url.insert(host, percent_encode(user) + ':' + percent_encode(password) + '@');
}

class IndexList {
 public:
  explicit IndexList(WeighedLayers& layers) : layers_(layers) {}

  void take(ConfiguredIndex index, const Stated& stated) {
    if (index.url.empty()) return layers_.refuse(stated, "the index", "is empty");
    if (index.url.find_first_of(" \t\n") != std::string::npos && index.url.contains("://"))
      return layers_.refuse(stated, "the index", "is not a URL: it contains white space");
    index.url = absolute_place(index.url);
    add_credentials(index);
    auto& into = index.is_default ? defaults_ : others_;
    const auto same = [&](const ConfiguredIndex& other) {
      return other.url == index.url || (!index.name.empty() && other.name == index.name);
    };
    if (std::ranges::none_of(others_, same)) into.push_back(std::move(index));
  }

  void take_text(const Stated& stated, bool is_default) {
    ConfiguredIndex index = parse_index(stated.value, stated.origin);
    index.is_default = is_default;
    take(std::move(index), stated);
  }

  std::vector<ConfiguredIndex> finish() {
    const auto same = [&](const ConfiguredIndex& index) { return index.url == others_.back().url; };
    if (!defaults_.empty()) {
      others_.push_back(std::move(defaults_.front()));
      // The default is queried last, even if it is listed among the others.
      others_.erase(std::remove_if(others_.begin(), others_.end() - 1, same), others_.end() - 1);
    }
    return std::move(others_);
  }

 private:
  WeighedLayers& layers_;
  std::vector<ConfiguredIndex> others_;
  std::vector<ConfiguredIndex> defaults_;
};

}  // namespace

ConfiguredIndex parse_index(std::string_view text, std::string origin) {
  ConfiguredIndex index;
  const std::size_t equals = text.find('=');
  // A name contains none of these; the `=` of a URL comes after them.
  const bool named = equals != std::string_view::npos && text.find_first_of(":/") > equals;
  if (named) index.name = text.substr(0, equals);
  index.url = text.substr(named ? equals + 1 : 0);
  index.origin = std::move(origin);
  return index;
}

void take_indexes(WeighedLayers& layers, Settings& settings) {
  settings.no_index = layers.truth("no-index").value_or(false);
  if (settings.no_index) {
    settings.no_index_origin = layers.one("no-index")->origin;
    return;
  }
  IndexList list(layers);
  for (const SettingsLayer& layer : layers.each()) {
    if (const auto found = layer.values.find("default-index"); found != layer.values.end())
      list.take_text(found->second.back(), true);
    if (const auto found = layer.values.find("index"); found != layer.values.end()) {
      for (const Stated& stated : found->second) list.take_text(stated, false);
    }
    for (const ConfiguredIndex& index : layer.indexes) list.take(index, {index.url, index.origin});
    if (const auto found = layer.values.find("index-url"); found != layer.values.end())
      list.take_text(found->second.back(), true);
  }
  for (const Stated& stated : layers.all("extra-index-url")) list.take_text(stated, false);
  settings.indexes = list.finish();
}

std::string absolute_place(const std::string& place) {
  if (place.contains("://")) return place;
  std::error_code ignored;
  return std::filesystem::absolute(place, ignored).lexically_normal().string();
}

}  // namespace axle::session
