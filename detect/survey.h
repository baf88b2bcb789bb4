#pragma once
// Queries facts that detection does not use yet, so that later versions find them in today's
// recordings.

#include "detect/host.h"

namespace axle::detect {

/// Every CPUID leaf that describes features of the processor, the words of the auxiliary vector,
/// and the bus's data about its accelerators. A RecordingHost records the answers.
void survey_machine(Host& host);

}  // namespace axle::detect
