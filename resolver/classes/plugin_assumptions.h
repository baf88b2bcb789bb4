#pragma once
// What plugins would say on a machine that is not here: the properties that its facts state.

#include <map>
#include <set>
#include <string>

#include "resolver/predicate/machine_facts.h"
#include "resolver/request/plugin_host.h"

namespace axle::resolver {

class AssumingHost final : public PluginHost {
 public:
  explicit AssumingHost(PluginHost& inner) : inner_(inner) {}

  /// nullptr: of this machine, as the plugins say. Must live until it is changed.
  void assume(const FactValues* facts) { facts_ = facts; }
  [[nodiscard]] std::vector<PluginLists> ask(std::span<const PluginRequest> requests,
                                             Report& report) override;

  /// Namespaces that were asked for since.
  [[nodiscard]] std::set<std::string, std::less<>> take_asked() { return std::move(asked_); }
  /// Adds the properties that plugins told of on this machine.
  void add_facts(FactValues& facts) const;

 private:
  PluginHost& inner_;
  const FactValues* facts_ = nullptr;
  std::set<std::string, std::less<>> asked_;
  std::map<std::string, providers::Features, std::less<>> here_;
};

}  // namespace axle::resolver
