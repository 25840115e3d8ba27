// target.h - a GPU generation is a row of numbers, never a copied generator.
#ifndef MIRAGE_TARGET_H
#define MIRAGE_TARGET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct MirageTarget {
  const char *name;              // "h200"
  const char *name_without_maps; // where has_tensor_copy: the name as mirage_target_without_maps gives it
  const char *chip;              // LLVM / ptxas name: "sm_90a"
  const char *ptx;               // LLVM feature: "+ptx80"
  const char *ptx_f8;   // the same of kernels in which warps multiply f8; NULL: the GPU has no such instruction
  const char *ptx_meet; // the same of kernels whose blocks meet in clusters; NULL: ours have none on this GPU
  int32_t compute_major, compute_minor;
  int32_t num_sms;
  int32_t num_sm_groups;          // groups of multiprocessors of unknown sizes, within one of which a cluster lies
  int32_t max_cluster_blocks;     // beyond 8 the launcher must ask for it
  int32_t shared_bytes_per_block; // opt-in limit of dynamic shared memory
  int32_t shared_bytes_per_sm;
  int32_t registers_per_sm;
  int32_t max_threads_per_block;
  int32_t max_threads_per_sm;
  double dram_bytes_per_us; // achievable
  double l2_bytes_per_us;
  double matmul_flops_per_us; // f16 with f32 accumulation, whole chip; bytes go twice as fast, where ptx_f8 says f8 do
  double fma_flops_per_us;    // f32, whole chip
  double exp_per_us;          // special-function results, whole chip
  double launch_us;           // a kernel in a graph
  bool has_cluster, has_tensor_copy, has_wgmma;
} MirageTarget;

/// By name ("h200", "h100", "a100", "rtx4090", "l4", "rtx3090", "b200", "rtx5090"), chip ("sm_90a", "sm_90": the first row
/// with it) or generation ("hopper"); in any case, and with or without '-', '_', blanks and "nvidia": "RTX 4090". NULL when
/// unknown.
const MirageTarget *mirage_target_find(const char *name);
/// The same GPU for a launcher that can pass plain pointers only: kernels use no tensor copies, and `name` says so.
MirageTarget mirage_target_without_maps(const MirageTarget *target);
/// Writes the targets that there are, and the nearest name where one is near: "h200 (sm_90a), ...; is h200 meant?".
void mirage_target_list(const char *wanted, char *text, size_t size);
/// Row `index`, or NULL past the end.
const MirageTarget *mirage_target_get(size_t index);

#ifdef __cplusplus
}
#endif
#endif
