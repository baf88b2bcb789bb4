#pragma once
// The machines for which an index is judged. Machines that a question cannot tell apart are asked
// about once.

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/report.h"
#include "machines/selection.h"
#include "resolver/choice/ranking.h"
#include "resolver/request/supported_properties.h"
#include "wheel/marker.h"
#include "wheel/variant/variant_metadata.h"
#include "wheel/wheel_name.h"

namespace axle::resolver {

class MachineCorpus {
 public:
  explicit MachineCorpus(std::vector<machines::NamedMachine> machines);

  [[nodiscard]] std::size_t size() const { return machines_.size(); }
  [[nodiscard]] const std::string& name(std::size_t machine) const {
    return machines_[machine].name;
  }
  /// Whether a wheel with these tags runs on its operating system, architecture and C library, with
  /// an interpreter that the tags ask for.
  [[nodiscard]] bool fits(std::size_t machine, const std::vector<wheel::Tag>& tags) const;
  /// The same of its architecture alone: a wheel that is no wheel of another one.
  [[nodiscard]] const std::string& architecture(std::size_t machine) const {
    return platforms_[platform_of_[machine]].architecture;
  }
  [[nodiscard]] const wheel::MarkerEnvironment& markers(std::size_t machine) const {
    return platforms_[platform_of_[machine]].markers;
  }
  /// The labels that fit a machine by their properties, best first.
  [[nodiscard]] std::vector<std::string> ranked(std::size_t machine,
                                                const wheel::VariantMetadata& metadata);

 private:
  struct Platform {
    std::string architecture;
    std::set<std::string, std::less<>> tags;
    wheel::MarkerEnvironment markers;
  };
  /// Of documents with the same namespaces and providers.
  struct Lists {
    std::vector<SupportedProperties> distinct;
    std::vector<std::size_t> of_machine;  ///< index in `distinct`
  };
  [[nodiscard]] const Lists& lists_for(const wheel::VariantMetadata& metadata);

  std::vector<machines::NamedMachine> machines_;
  std::vector<Platform> platforms_;
  std::vector<std::size_t> platform_of_;
  std::map<std::string, Lists> lists_;
  /// The last document that was asked about, and what it ranks by list.
  wheel::VariantMetadata last_;
  const Lists* last_lists_ = nullptr;
  std::map<std::size_t, std::vector<std::string>> last_ranked_;
};

}  // namespace axle::resolver
