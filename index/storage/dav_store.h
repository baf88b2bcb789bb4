#pragma once
// An index in a folder of a WebDAV server: the files are those of the folder form.

#include <memory>

#include "index/http/transport.h"
#include "index/storage/dav_access.h"
#include "index/storage/object_store.h"

namespace axle::index {

/// `transport`: as for DavClient.
[[nodiscard]] std::unique_ptr<ObjectStore> make_dav_store(DavAccess access,
                                                          std::unique_ptr<Transport> transport);

}  // namespace axle::index
