#pragma once
// An index in a storage of S3's kind: the objects are the files of the folder form, and for each
// page one more whose key ends with "/", which is what installers ask for.

#include <memory>

#include "index/http/transport.h"
#include "index/storage/object_store.h"
#include "index/storage/storage_address.h"

namespace axle::index {

/// `transport`: as for StorageClient. `goes_on`: a large file that is interrupted keeps notes
/// beside it, and goes on the next time. Files are written before the pages that name them; an
/// object that is there with the same size and sha256 is not sent again.
[[nodiscard]] std::unique_ptr<ObjectStore> make_s3_store(StorageAccess access,
                                                         std::unique_ptr<Transport> transport,
                                                         bool goes_on);

}  // namespace axle::index
