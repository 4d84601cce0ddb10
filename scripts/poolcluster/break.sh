#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# break.sh WHAT ROOT: does one thing wrong on a node whose root is ROOT, for a row to find. Documentation/pool/testing.md.

set -eu
what=$1 root=$2
# instead PROGRAM: standard input takes its place, and calls it PROGRAM.real.
instead() {
    [ -e "$root$1.real" ] || cp -a "$root$1" "$root$1.real"
    rm -f "$root$1"
    cat >"$root$1"
    chmod 755 "$root$1"
}
case $what in
same-boot) echo 00000000-0000-4000-8000-000000000000 >"$root/run/boot_id" ;;
count-good)
    instead /usr/bin/gpupool <<'END'
#!/bin/bash
[ "$1" = capacity ] || exec gpupool.real "$@"
status=$(gpupool.real --json status "$2") || exit
grep -o '{[^{}]*"serial"[^{}]*}' <<<"$status" | grep '"offline":false' | grep -cE '"state":"(free|leased|scrubbing|attaching)"'
exit 0
END
    ;;
blind)
    instead /usr/bin/gpupool <<'END'
#!/bin/sh
[ "$1" != capacity ] || exec gpupool.real capacity "$2"
exec gpupool.real "$@"
END
    ;;
wrong-plan)
    instead /usr/sbin/crm_simulate <<'END'
#!/bin/bash
crm_simulate.real "$@" || exit
for each; do
    case $each in --save-output=*) sed -i -E 's/uname="node([0-9])"/uname="node@\1"/g; s/"node@1"/"node2"/g; s/"node@2"/"node3"/g; s/"node@3"/"node1"/g' "${each#*=}" ;; esac
done
END
    ;;
trusting)
    instead /usr/sbin/fence_outlet <<'END'
#!/bin/bash
options=$(cat)
[[ $options == *action=off* ]] || exec fence_outlet.real "$@" <<<"$options"
timeout 1 fence_outlet.real "$@" <<<"$options"
exit 0
END
    ;;
false-stop)
    instead /usr/lib/ocf/resource.d/gpupool/vm <<'END'
#!/bin/sh
[ "$1" != stop ] || exit 0
exec /opt/cluster/vm "$@"
END
    ;;
*) echo "break.sh: nothing is known of '$what'" >&2; exit 1 ;;
esac
