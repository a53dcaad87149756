// SPDX-License-Identifier: GPL-2.0-or-later
#include "shim.h"

int shim_cpu;
