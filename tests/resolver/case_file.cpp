#include "tests/resolver/case_file.h"

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>

#include "foundation/report/report.h"
#include "machines/selection.h"
#include "providers/provider.h"

namespace axle::testing {
namespace {

using Words = std::vector<std::string>;

Words split(const std::string& text, char separator) {
  Words parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

/// "ns::feature=v1,v2".
struct FeatureList {
  std::string ns;
  wheel::FeatureValues list;
};

FeatureList parse_list(const std::string& word) {
  const std::size_t colons = word.find("::");
  const std::size_t equals = word.find('=');
  if (colons == std::string::npos || equals == std::string::npos || equals < colons) {
    throw std::runtime_error("expected ns::feature=value,…, got " + word);
  }
  return {word.substr(0, colons),
          {word.substr(colons + 2, equals - colons - 2), split(word.substr(equals + 1), ',')}};
}

/// What stands behind `key=` to the end of the line: requirements have spaces in them.
std::string behind(const std::string& line, const std::string& key) {
  const std::size_t at = line.find(key + "=");
  return at == std::string::npos ? "" : line.substr(at + key.size() + 1);
}

class Reader {
 public:
  CaseFile read(std::istream& input) {
    int number = 0;
    for (std::string line; std::getline(input, line);) {
      ++number;
      const Words words = split(line, ' ');
      if (words.empty() || words[0].starts_with('#')) continue;
      try {
        directive(words, line);
      } catch (const std::exception& e) {
        throw std::runtime_error("line " + std::to_string(number) + ": " + e.what());
      }
    }
    add_default_providers();
    return std::move(case_);
  }

 private:
  void directive(const Words& words, const std::string& line) {
    using Handler = std::function<void()>;
    wheel::VariantMetadata& metadata = case_.metadata;
    const Words rest(words.begin() + 1, words.end());
    const std::map<std::string, Handler> handlers = {
        {"machine", [&] { machine(line.substr(line.find(' ') + 1)); }},
        {"schema", [&] { metadata.schema_version = rest.at(0); }},
        {"priorities", [&] { metadata.namespaces = rest; }},
        {"supported", [&] { supported(rest); }},
        {"provider",
         [&] { metadata.providers[rest.at(0)].requires_ = {behind(line, "requires")}; }},
        {"plugin-api", [&] { metadata.providers[rest.at(0)].plugin_api = rest.at(1); }},
        {"builtin", [&] { metadata.providers[rest.at(0)].builtin = rest.at(1); }},
        {"optional", [&] { metadata.providers[rest.at(0)].optional = true; }},
        {"enable-if",
         [&] { metadata.providers[rest.at(0)].enable_if = line.substr(line.find(rest.at(1))); }},
        {"no-install-time", [&] { metadata.providers[rest.at(0)].install_time = false; }},
        {"static", [&] { static_lists(rest); }},
        {"features",
         [&] { metadata.feature_priorities[rest.at(0)] = {rest.begin() + 1, rest.end()}; }},
        {"values", [&] { values(rest); }},
        {"enable", [&] { case_.policy.enabled.insert(rest.at(0)); }},
        {"gpu-policy", [&] { gpu_policy(rest.at(0)); }},
        {"disable", [&] { case_.policy.disabled.insert(rest.at(0)); }},
        {"variant", [&] { variant(rest); }},
        {"expect", [&] { case_.expected = rest; }},
        {"reject", [&] { case_.rejected.emplace_back(rest.at(0), because(line)); }},
        {"origin", [&] { case_.origins.emplace_back(rest.at(0), rest.at(1)); }},
        {"remark", [&] { case_.remarks.push_back(line.substr(line.find(' ') + 1)); }},
    };
    const auto handler = handlers.find(words[0]);
    if (handler == handlers.end()) throw std::runtime_error("no directive " + words[0]);
    handler->second();
  }

  static std::string because(const std::string& line) {
    const std::size_t at = line.find(" because ");
    if (at == std::string::npos) throw std::runtime_error("a rejection needs its reason");
    return line.substr(at + 9);
  }

  void gpu_policy(const std::string& text) {
    const auto policy = providers::parse_gpu_policy(text);
    if (!policy) throw std::runtime_error("no such policy");
    case_.policy.gpus = *policy;
  }

  void machine(const std::string& what) {
    CollectedReport report;
    const auto selected = machines::select_machines(what, report);
    if (!selected) throw std::runtime_error(selected.error().message);
    case_.machine = selected->at(0).machine;
  }

  void supported(const Words& words) {
    if (!case_.policy.user_lists) case_.policy.user_lists.emplace();
    for (const std::string& word : words) {
      const FeatureList list = parse_list(word);
      (*case_.policy.user_lists)[list.ns].push_back({list.list.feature, true, list.list.values});
    }
  }

  void static_lists(const Words& words) {
    for (const std::string& word : words) {
      const FeatureList list = parse_list(word);
      auto& lists = case_.metadata.providers[list.ns].static_properties;
      if (!lists) lists.emplace();
      lists->push_back(list.list);
    }
  }

  void values(const Words& words) {
    for (const std::string& word : words) {
      const FeatureList list = parse_list(word);
      case_.metadata.property_priorities[list.ns].push_back(list.list);
    }
  }

  void variant(const Words& words) {
    wheel::VariantProperties& properties = case_.metadata.variants[words.at(0)];
    for (std::size_t i = 1; i < words.size(); ++i) {
      const FeatureList list = parse_list(words[i]);
      for (const std::string& value : list.list.values) {
        properties.insert({list.ns, list.list.feature, value});
      }
    }
  }

  /// A namespace that the case says nothing of has the provider that Axle carries.
  void add_default_providers() {
    for (const std::string& ns : case_.metadata.namespaces) {
      const providers::Provider* provider = providers::find_provider(ns);
      if (provider == nullptr || case_.metadata.providers.contains(ns)) continue;
      wheel::ProviderInfo& info = case_.metadata.providers[ns];
      info.requires_ = {std::string(provider->package)};
      info.plugin_api = provider->plugin_apis.front();
    }
  }

  CaseFile case_;
};

}  // namespace

CaseFile read_case(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return Reader().read(file);
}

std::string_view render_origin(plan::ListOrigin origin) {
  switch (origin) {
    case plan::ListOrigin::disabled:
      return "disabled";
    case plan::ListOrigin::static_list:
      return "static";
    case plan::ListOrigin::user_list:
      return "user";
    case plan::ListOrigin::builtin:
      return "builtin";
    case plan::ListOrigin::plugin:
      return "plugin";
    case plan::ListOrigin::untrusted:
      return "untrusted";
    case plan::ListOrigin::failed:
      return "failed";
    case plan::ListOrigin::none:
      return "none";
  }
  return "";
}

}  // namespace axle::testing
