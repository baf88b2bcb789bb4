#include "behaviour.h"

#ifdef STUB_COMPAT
// A forward-compatibility library as NVIDIA builds it: newer than the driver, with its ELF note. No
// GPU supports it.
#define STUB_VERSION 12090
#define STUB_NOTE "{\"format\":1,\"CUDA version\":\"12.9\",\"driver\":[535,550,570],}"

__attribute__((section(".note.cuda.fwd_compatibility"), used, aligned(4))) static const struct {
  unsigned name_size, text_size, type;
  char name[20];
  char text[sizeof(STUB_NOTE)];
} stub_note = {19, sizeof(STUB_NOTE), 1, "NVIDIA Corporation", STUB_NOTE};
#else
#define STUB_VERSION 12080
#endif

int cuDriverGetVersion(int* version) {
  if (strncmp(stub_mode(), "version_error:", 14) == 0) return atoi(stub_mode() + 14);
  *version = STUB_VERSION;
  return 0;
}

#ifndef STUB_WITHOUT_INIT
static int initialised = 0;

int cuInit(unsigned flags) {
  (void)flags;
  const int code = stub_initialise();
#ifdef STUB_COMPAT
  if (code == 0) return 804;
#endif
  if (code == 0 && stub_devices() == 0) return 100;
  if (strcmp(stub_mode(), "mig-empty") == 0) return 100;
  // An empty mask must not have reached us: it is a wish of the user's, no fact of the driver.
  if (code == 0 && getenv("CUDA_VISIBLE_DEVICES") != NULL) return 100;
  initialised = code == 0;
  return code;
}

int cuDeviceGetCount(int* count) {
  *count = stub_devices();
  return initialised ? 0 : 3;
}
#endif

int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}

int cuDeviceGetAttribute(int* value, int attribute, int device) {
  *value = attribute == 75 ? 9 - 2 * device : attribute == 76 ? 5 * device : 0;
  return 0;
}

int cuDeviceGetName(char* name, int size, int device) {
  (void)device;
  snprintf(name, (size_t)size, "Stub\tGPU \x1b[31m");
  return 0;
}

int cuDeviceGetPCIBusId(char* address, int size, int device) {
  snprintf(address, (size_t)size, "0000:%02x:00.0", 0x65 - device);
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  *bytes = (size_t)80 << 30;
  return 0;
}
