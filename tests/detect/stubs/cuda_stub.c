#include "behaviour.h"

int cuDriverGetVersion(int* version) {
  *version = 12080;
  return 0;
}

#ifndef STUB_WITHOUT_INIT
static int initialised = 0;

int cuInit(unsigned flags) {
  (void)flags;
  const int code = stub_initialise();
  if (code == 0 && stub_devices() == 0) return 100;
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
  (void)device;
  *value = attribute == 75 ? 9 : 0;
  return 0;
}

int cuDeviceGetName(char* name, int size, int device) {
  (void)device;
  snprintf(name, (size_t)size, "Stub\tGPU \x1b[31m");
  return 0;
}

int cuDeviceGetPCIBusId(char* address, int size, int device) {
  (void)device;
  snprintf(address, (size_t)size, "0000:65:00.0");
  return 0;
}

int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  (void)device;
  *bytes = (size_t)80 << 30;
  return 0;
}
