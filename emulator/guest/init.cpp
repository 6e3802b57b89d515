// The first process of a guest, started from the initramfs: it loads modules, mounts the host's files below a writable
// layer, checks the PCI tree, starts the network, reports "ready", and runs the command when told to.
#include <fcntl.h>
#include <poll.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <nlohmann/json.hpp>

#include "emulator/guest/command.hpp"
#include "emulator/guest/network.hpp"
#include "emulator/guest/pci.hpp"
#include "emulator/guest/system.hpp"
#include "emulator/guest_config.hpp"

namespace {

using namespace lanewise::emulator;
using namespace lanewise::emulator::guest;

constexpr char kRoot[] = "/root";  // where the guest's root is assembled

void load_modules(GuestConfig const& config) {
  for (auto const& name : config.modules) {
    auto const file = open_file(std::string(kModuleFolder) + "/" + name, O_RDONLY);
    if (syscall(SYS_finit_module, file.get(), "", 0) != 0 && errno != EEXIST) fail("loading the module " + name);
  }
}

// Opens a virtual serial port by its name. It appears a moment after its driver is loaded.
int open_port(std::string const& wanted) {
  constexpr int kTries = 1000;
  constexpr useconds_t kPause = 10'000;
  for (int i = 0; i < kTries; ++i) {
    for (auto const& port : names_in("/sys/class/virtio-ports")) {
      auto const name_file = "/sys/class/virtio-ports/" + port + "/name";
      if (access(name_file.c_str(), R_OK) != 0 || read_file(name_file) != wanted + "\n") continue;
      auto const descriptor = open(("/dev/" + port).c_str(), O_RDWR | O_CLOEXEC);
      if (descriptor >= 0) return descriptor;
    }
    usleep(kPause);
  }
  throw GuestError("the port " + wanted + " did not come up");
}

void send_line(int control, std::string const& text) { write_all(control, text + "\n"); }

// Mounts a layer in memory over the host's files: everything is writable, and writes are lost with the guest.
void mount_root(GuestConfig const& config) {
  constexpr char kShareOptions[] = "trans=virtio,version=9p2000.L,msize=512000,cache=";
  mount_on(config.shares.front().tag, "/host", "9p", MS_RDONLY, std::string(kShareOptions) + "loose");
  mount_on("layer", "/layer", "tmpfs", 0, "mode=755");
  make_folders("/layer/upper");
  make_folders("/layer/work");
  mount_on("root", kRoot, "overlay", 0, "lowerdir=/host,upperdir=/layer/upper,workdir=/layer/work");
  std::string const root = kRoot;
  for (std::size_t i = 1; i < config.shares.size(); ++i) {
    auto const& share = config.shares[i];
    mount_on(share.tag, root + share.folder, "9p", share.writable ? 0 : MS_RDONLY, std::string(kShareOptions) + "none");
  }
  mount_on("proc", root + "/proc", "proc", 0, "");
  mount_on("sysfs", root + "/sys", "sysfs", 0, "");
  mount_on("devtmpfs", root + "/dev", "devtmpfs", 0, "");
  mount_on("devpts", root + "/dev/pts", "devpts", 0, "gid=5,mode=620,ptmxmode=666");
  mount_on("shm", root + "/dev/shm", "tmpfs", 0, "mode=1777");
  mount_on("run", root + "/run", "tmpfs", 0, "mode=755");
  symlink("/proc/self/fd", (root + "/dev/fd").c_str());
  symlink("/proc/self/fd/0", (root + "/dev/stdin").c_str());
  symlink("/proc/self/fd/1", (root + "/dev/stdout").c_str());
  symlink("/proc/self/fd/2", (root + "/dev/stderr").c_str());
  check(chdir(kRoot), kRoot);
  check(chroot("."), kRoot);
}

void write_files(GuestConfig const& config) {
  for (auto const& file : config.files) {
    make_folders(file.path.substr(0, file.path.rfind('/')));
    write_file(file.path, file.text, file.mode);
  }
}

void set_limits() {
  constexpr rlimit kNone{RLIM_INFINITY, RLIM_INFINITY};  // RDMA pins memory
  check(setrlimit(RLIMIT_MEMLOCK, &kNone), "RLIMIT_MEMLOCK");
}

// Waits for a line on the control port and reaps orphans meanwhile.
std::string next_line(int control) {
  std::string line;
  while (true) {
    constexpr int kReapInterval = 500;  // ms
    pollfd waiting{control, POLLIN, 0};
    while (waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (poll(&waiting, 1, kReapInterval) <= 0) continue;
    char letter = 0;
    auto const count = read(control, &letter, 1);
    if (count <= 0) usleep(10'000);  // the other end is not open yet
    if (count <= 0) continue;
    if (letter == '\n') return line;
    line += letter;
  }
}

void serve(int control, GuestConfig const& config) {
  auto const output = open_port(kOutputPort);
  auto const errors = open_port(kErrorPort);
  auto const input = config.input == GuestInputKind::None ? -1 : open_port(kInputPort);
  mount_root(config);
  set_limits();
  check(sethostname(config.host_name.data(), config.host_name.size()), "sethostname");
  write_files(config);
  for (auto const& note : check_pci_tree(config.functions)) send_line(control, "note " + note);
  start_network(config);
  for (auto const& service : config.services)
    if (auto const code = run_shell(service); code != 0)
      send_line(control, "note exit code " + std::to_string(code) + " of: " + service);
  send_line(control, "ready");
  while (next_line(control) != "run") {
  }
  auto const code = run_command(config, {output, errors, input, control});
  sync();
  send_line(control, "exit " + std::to_string(code));
}

void start() {
  mount_on("proc", "/proc", "proc", 0, "");
  mount_on("sysfs", "/sys", "sysfs", 0, "");
  mount_on("devtmpfs", "/dev", "devtmpfs", 0, "");
  std::signal(SIGPIPE, SIG_IGN);
  auto const config = guest_config_from(read_file(kConfigFile));
  load_modules(config);
  auto const control = open_port(kControlPort);
  try {
    serve(control, config);
  } catch (std::exception const& error) {
    send_line(control, std::string("failed ") + error.what());
  }
  // The emulator now has the result and ends this machine.
  while (true) pause();
}

}  // namespace

int main() {
  try {
    start();
  } catch (std::exception const& error) {
    auto const console = open("/dev/console", O_WRONLY);
    if (console >= 0) write_all(console, std::string("lanewise-guest: ") + error.what() + "\n");
    usleep(100'000);  // lets the slow console finish
  }
  reboot(RB_AUTOBOOT);  // QEMU ends on a reboot
}
