#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# rocm-gpus.sh: print how many GPUs rocminfo finds, and before that why it cannot open /dev/kfd, if it cannot; fail if it finds none.

rocminfo >/tmp/rocminfo
grep 'Unable to open' /tmp/rocminfo
grep -c 'Device Type: *GPU' /tmp/rocminfo
