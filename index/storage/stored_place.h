#pragma once
// A static index that is no folder of this machine.

#include <memory>
#include <string>

#include "foundation/report/error.h"
#include "index/publish/index_place.h"
#include "index/storage/object_store.h"

namespace axle::index {

class StoredPlace : public IndexPlace {
 public:
  /// Reads the index like one of a server.
  [[nodiscard]] virtual Transport& reader() = 0;
  /// "https://…/simple", for `reader`; without a login.
  [[nodiscard]] virtual std::string simple_url() const = 0;
};

[[nodiscard]] std::unique_ptr<StoredPlace> make_stored_place(std::unique_ptr<ObjectStore> store);

}  // namespace axle::index
