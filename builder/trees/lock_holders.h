#pragma once
// Who holds the lock of a build after the build itself has ended. Compilers of one that was killed
// are in its session, and still write; a compiler's server (sccache) has made a session of its own,
// and would hold the lock for hours.

#include "foundation/system/descriptor.h"

namespace axle::builder {

/// Says in the locked file whose lock it is.
void name_holder(const system::Descriptor& lock);

/// Whether the build that took the lock has ended, and all that holds it are processes of other
/// sessions than its own. False if that is not known: of other users and other hosts nothing is.
[[nodiscard]] bool held_by_servers_alone(const system::Descriptor& lock);

}  // namespace axle::builder
