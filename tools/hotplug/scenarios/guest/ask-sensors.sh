#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# ask-sensors.sh BDF: read the sensors of the GPU over and over, as monitors do. The values do not matter.

echo '{"state":"ready"}'
while :; do
    cat "/sys/bus/pci/devices/$1/gpu_busy_percent" "/sys/bus/pci/devices/$1"/hwmon/hwmon*/*_input >/dev/null 2>&1
    usleep 2000
done
