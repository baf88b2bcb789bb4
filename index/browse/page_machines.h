#pragma once
// What pages for people say of machines. The rooms that know machines are above this one.

#include <string>

#include "wheel/variant/variant_metadata.h"

namespace axle::index {

class PageMachines {
 public:
  virtual ~PageMachines() = default;
  /// JSON, the same for every index: {"lists": [[[feature, [value, …]], …], …], "machines":
  /// [{"name", "about", "kind", "arch", "system": "Linux", "Windows" or "Darwin", "libc": [family,
  /// major, minor], "macos": [major, minor] of a Mac, "lists": {ns: number of a list}, "views": the
  /// same of each of several unlike GPUs}]}.
  [[nodiscard]] virtual std::string machines_json() const = 0;
  /// JSON: whose lists of supported properties count for each namespace of a document: {"any": {ns:
  /// origin}}, beside it {place: {ns: origin}} where the document's markers say otherwise; a place
  /// is an architecture ("aarch64", of Linux), or system and architecture ("Windows x86_64"). An
  /// origin is "machine", "versions" (of other packages), {"lists": as above} of the document
  /// itself, or {"why": text}, where nothing is supported.
  [[nodiscard]] virtual std::string origins_json(const wheel::VariantMetadata& metadata) const = 0;
};

}  // namespace axle::index
