#include "behaviour.h"

struct pci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};

struct memory {
  unsigned long long total, free, used;
};

#ifndef STUB_WITHOUT_INIT
int nvmlInit_v2(void) { return stub_initialise(); }
#endif

int nvmlSystemGetDriverVersion(char* version, unsigned size) {
  snprintf(version, size, "570.124.06");
  return 0;
}

int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  *version = 12080;
  return 0;
}

int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = (unsigned)stub_devices();
  return 0;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** device) {
  (void)index;
  *device = (void*)"device";
  return 0;
}

int nvmlDeviceGetName(void* device, char* name, unsigned size) {
  (void)device;
  snprintf(name, size, "Stub H100");
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* uuid, unsigned size) {
  (void)device;
  snprintf(uuid, size, "GPU-01234567-89ab-cdef-0123-456789abcdef");
  return 0;
}

int nvmlDeviceGetPciInfo_v3(void* device, struct pci* pci) {
  (void)device;
  memset(pci, 0, sizeof(*pci));
  strcpy(pci->bus_id, "00000000:65:00.0");
  return 0;
}

int nvmlDeviceGetMemoryInfo(void* device, struct memory* memory) {
  (void)device;
  memory->total = 80ULL << 30;
  memory->free = memory->total;
  memory->used = 0;
  return 0;
}

int nvmlDeviceGetCudaComputeCapability(void* device, int* major, int* minor) {
  (void)device;
  *major = 9;
  *minor = 0;
  return 0;
}
