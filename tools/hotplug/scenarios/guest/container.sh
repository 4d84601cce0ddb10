#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# container.sh NODE: make the device cgroup /tmp/devices/container, which may use all devices but NODE.

mkdir /tmp/devices && mount -t cgroup -o devices none /tmp/devices && mkdir /tmp/devices/container || exit
echo "c $(cat "/sys/class/drm/$(basename "$1")/dev") rwm" >/tmp/devices/container/devices.deny
