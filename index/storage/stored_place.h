#pragma once
// A static index in a storage of S3's kind: the objects are the files of the folder form, and for
// each page one more whose key ends with "/", which is what installers ask for.

#include <memory>
#include <string>

#include "foundation/report/error.h"
#include "index/http/transport.h"
#include "index/publish/index_place.h"
#include "index/storage/storage_address.h"

namespace axle::index {

/// `transport`: as for StorageClient. `goes_on`: a large file that is interrupted keeps notes
/// beside it, and goes on the next time. Files are written before the pages that name them; an
/// object that is there with the same size and sha256 is not sent again.
class StoredPlace : public IndexPlace {
 public:
  /// Reads the index like one of a server.
  [[nodiscard]] virtual Transport& reader() = 0;
  /// "https://…/simple", for `reader`.
  [[nodiscard]] virtual std::string simple_url() const = 0;
};

[[nodiscard]] std::unique_ptr<StoredPlace> make_stored_place(StorageAccess access,
                                                             std::unique_ptr<Transport> transport,
                                                             bool goes_on);

}  // namespace axle::index
