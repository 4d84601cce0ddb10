#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# hold-i2c.sh BDF: have the GPU's first I2C bus open, as tools that ask monitors for their brightness have, until a line comes.

modprobe -q i2c-dev
for bus in "/sys/bus/pci/devices/$1"/i2c-*; do
    exec 7<>"/dev/${bus##*/}" || exit
    break
done
echo '{"state":"ready"}'
read -r _
