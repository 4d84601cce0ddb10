#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# to-stub.sh BDF: give a device that no driver has to pci-stub, and to no other driver from then on.

modprobe pci-stub && cd "/sys/bus/pci/devices/$1" && echo pci-stub >driver_override && echo "$1" >/sys/bus/pci/drivers_probe &&
    [ "$(basename "$(readlink driver)")" = pci-stub ]
