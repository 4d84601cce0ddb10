#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# node.sh NUMBER FOLDER ROOT [BREAK]: the first process of a node, in namespaces of its own. FOLDER/disk lasts, like a disk; memory does not.
# Beside FOLDER are the testbed, the agents and the programs, ROOT is an unpacked Debian (scripts/guest/deb-root), BREAK something to do
# wrong. Waits for a line on standard input: then the node has its network interfaces.

set -eu
number=$1 folder=$2 packages=$3 wrong=${4:-}
room=$(dirname "$folder") root=$2/root
# The host's programs find their libraries where the host has them.
loader=$(realpath /lib64/ld-linux-x86-64.so.2)
libraries=$(ldd "$room/programs/gpupoold" | sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | xargs -r -n 1 dirname | sort -u | sed 's|^|/host|' | paste -sd :)

mount --make-rprivate /
mkdir -p "$root" "$folder/disk/upper" "$folder/disk/work"
mount -t overlay overlay -o "lowerdir=$packages,upperdir=$folder/disk/upper,workdir=$folder/disk/work" "$root"
mkdir -p "$root"/{proc,sys,dev,run,tmp,host,share,opt/gpupool,opt/testbed,opt/cluster,var/log/cluster}
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount --rbind /dev "$root/dev"
for memory in dev/shm run tmp; do mount -t tmpfs tmpfs "$root/$memory"; done
mount -o bind,ro / "$root/host"
mount -o bind,ro "$room/programs" "$root/opt/gpupool"
mount -o bind,ro "$room/testbed" "$root/opt/testbed"
mount -o bind,ro "$room/cluster" "$root/opt/cluster"
mount --bind "$room/share" "$root/share"
mount --bind "$folder/log" "$root/var/log/cluster"
# Each start of the node is one of its kernel.
cat /proc/sys/kernel/random/uuid >"$root/run/boot_id"
mount --bind "$root/run/boot_id" "$root/proc/sys/kernel/random/boot_id"
mkdir -p "$root"/usr/lib/ocf/resource.d/gpupool "$root/run/resource-agents" "$root/run/crm" "$root/run/lock"
for agent in vm node; do ln -sfn "/opt/cluster/$agent" "$root/usr/lib/ocf/resource.d/gpupool/$agent"; done
ln -sfn /opt/testbed/fence_outlet "$root/usr/sbin/fence_outlet"
ln -sfn /opt/cluster/gpupool-cluster "$root/usr/bin/gpupool-cluster"
ln -sfn gawk "$root/usr/bin/awk"
for program in gpupool gpupoold; do
    printf '#!/bin/sh\nexec /host%s --library-path %s /opt/gpupool/%s "$@"\n' "$loader" "$libraries" $program >"$root/usr/bin/$program"
    chmod 755 "$root/usr/bin/$program"
done
[ -z "$wrong" ] || "$room/testbed/break.sh" "$wrong" "$root"
hostname "node$number"
read -r _
ip link set lo up
ip address add "10.99.0.$number/24" dev ring
ip address add "10.98.0.$number/24" dev power
ip link set ring up
ip link set power up
exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOSTNAME="node$number" chroot "$root" /bin/bash /opt/testbed/init.sh
