#pragma once
// Asks what detection does not ask yet, so that a later one finds it in the recordings of today.

#include "detect/host.h"

namespace axle::detect {

/// Every CPUID leaf that says what the processor can do, the words of the auxiliary vector, and
/// what the bus says of its accelerators. Answers are for a RecordingHost to note.
void survey_machine(Host& host);

}  // namespace axle::detect
