#pragma once
// Memory in pages of 2 MiB.

namespace axle::system {

/// For a command that will use megabytes: what the heap grows by from now on is mapped in large
/// pages, where the system permits them. A fault for a page of 4 KiB takes some 1.3 µs in a
/// virtual machine, and a resolution touches thousands.
void prefer_large_pages();

}  // namespace axle::system
