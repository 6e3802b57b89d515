#pragma once
// NVIDIA's cuFile (GPUDirect Storage), loaded at run time. Where the kernel module nvidia-fs or the file system does
// not let a drive reach a GPU's memory, cuFile has a compatibility mode: it reads into host memory and copies from
// there. Source of all calls: cuFile API Reference Guide, CUDA 13.0.
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/io/handle.hpp"
#include "hw/storage/drive_file.hpp"
#include "hw/storage/storage_transfer.hpp"

namespace lanewise::hw {

class CuFileLibrary;

class CuFile {
 public:
  // Opens the library, once it has tried without its compatibility mode which of these files drives and GPUs move by
  // themselves. The environment of the process is changed while it does, so no other thread may read that. Throws
  // MissingError where the library is not here or does not start.
  explicit CuFile(std::vector<DriveFile const*> const& files);
  CuFile(CuFile const&) = delete;
  CuFile& operator=(CuFile const&) = delete;
  ~CuFile();

  // Of the i-th of those files: whether it needs no compatibility mode.
  [[nodiscard]] bool is_direct(std::size_t file) const { return direct_.at(file); }

  // Between the drive and a GPU's memory. `use_gpu` makes that GPU current in the calling thread. Throws MissingError
  // where cuFile refuses the file. This must outlive it.
  [[nodiscard]] std::unique_ptr<StorageTransfer> transfer(DriveRange const& range, IoDirection direction, void* memory,
                                                          std::function<void()> const& use_gpu) const;

 private:
  std::unique_ptr<CuFileLibrary> library_;
  std::vector<bool> direct_;
};

}  // namespace lanewise::hw
