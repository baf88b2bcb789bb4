#pragma once
// Sources whose pages are read once, however many targets they are looked at for.

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "resolver/request/sources.h"

namespace axle::resolver {

class KeptSources {
 public:
  /// What `sources` names must outlive it.
  explicit KeptSources(const Sources& sources);

  [[nodiscard]] const Sources& sources() const { return sources_; }

 private:
  [[nodiscard]] index::Source* keep(index::Source* source);

  Sources sources_;
  std::map<index::Source*, std::unique_ptr<index::Source>> kept_;
};

}  // namespace axle::resolver
