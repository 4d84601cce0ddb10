#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# unbound.sh BDF: wait until no driver is bound to the GPU. The step's time limit ends it.

while [ -e "/sys/bus/pci/devices/$1/driver" ]; do
    usleep 10000
done
