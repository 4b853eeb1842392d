// The list of kernels that this machine can run.
#pragma once

#include "nnue/kernel.h"

enum { NET_KERNELS_MAX = 4 };

// The kernels that this machine can run, fastest first. Returns how many, at least one.
int net_kernels(const NetKernel *out[NET_KERNELS_MAX]);
