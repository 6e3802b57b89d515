// Stand-ins for libnvidia-ml.so.1 and libcuda.so.1, each built from this file: two GPUs with NVLinks to switches, at
// addresses that no system has. They let the tests load drivers as the program does. FAKE_DRIVER=broken: starting
// fails.
#include <array>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

bool broken() {
  auto const* said = std::getenv("FAKE_DRIVER");
  return said != nullptr && std::strcmp(said, "broken") == 0;
}

}  // namespace

extern "C" {

#ifdef FAKE_NVML
struct FakePci {
  char legacy[16];
  unsigned domain, bus, device, id, subsystem;
  char bus_id[32];
};
static std::array<int, 2> gpus{0, 1};

int nvmlInit_v2() { return broken() ? 9 : 0; }
int nvmlShutdown() { return 0; }
char const* nvmlErrorString(int) { return "Driver Not Loaded"; }
int nvmlSystemGetDriverVersion(char* text, unsigned size) {
  std::snprintf(text, size, "580.1");
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 2;
  return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned index, int** device) {
  *device = &gpus.at(index);
  return 0;
}
int nvmlDeviceGetPciInfo_v3(int* device, FakePci* pci) {
  std::memset(pci, 0, sizeof *pci);
  pci->domain = 0xabcd;
  pci->bus = 0xf0;
  pci->device = static_cast<unsigned>(6 + *device);
  pci->id = 0x233510de;
  return 0;
}
int nvmlDeviceGetName(int*, char* text, unsigned size) {
  std::snprintf(text, size, "NVIDIA H200");
  return 0;
}
int nvmlDeviceGetCurrPcieLinkGeneration(int*, unsigned* value) {
  *value = 5;
  return 0;
}
int nvmlDeviceGetCurrPcieLinkWidth(int*, unsigned* value) {
  *value = 16;
  return 0;
}
int nvmlDeviceGetMigMode(int* device, unsigned* current, unsigned* pending) {
  *current = *pending = *device == 1 ? 1 : 0;
  return 0;
}
int nvmlDeviceGetNvLinkState(int*, unsigned link, unsigned* active) {
  *active = link < 18 ? 1 : 0;
  return link < 18 ? 0 : 2;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(int*, unsigned, unsigned* type) {
  *type = 2;
  return 0;
}
int nvmlDeviceGetP2PStatus(int*, int*, unsigned op, unsigned* status) {
  *status = op == 3 ? 1 : 0;  // atomics: CNS
  return 0;
}
int nvmlDeviceGetTopologyCommonAncestor(int*, int*, unsigned* level) {
  *level = 50;
  return 0;
}
#else
int cuInit(unsigned) { return broken() ? 100 : 0; }
int cuGetErrorString(int, char const** text) {
  *text = "no CUDA-capable device is detected";
  return 0;
}
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = 2;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return 0;
}
int cuDeviceGetPCIBusId(char* text, int size, int device) {
  std::snprintf(text, static_cast<std::size_t>(size), "ABCD:F0:%02X.0", static_cast<unsigned>(6 + device));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 16 ? 132 : attribute == 40 ? 3 : attribute == 75 ? 9 : 0;
  return 0;
}
int cuDeviceGetP2PAttribute(int* value, int attribute, int, int) {
  *value = attribute == 2 ? 1 : 0;
  return 0;
}
int cuDevicePrimaryCtxRetain(void**, int device) { return device == 1 ? 2 : 0; }  // out of memory
int cuDevicePrimaryCtxRelease_v2(int) { return 0; }
#endif
}
