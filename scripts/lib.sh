# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by every script: where the cache is, how to talk, how to fail, how to fetch Debian packages without root.
#
# Nothing here needs privileges: packages are resolved by a private apt that inherits mirror, proxy and credentials from
# the host's configuration, verified against debian-archive-keyring, and unpacked with dpkg-deb.

set -euo pipefail

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Debian's ordinary users don't have depmod and modinfo in their PATH.
PATH=$PATH:/usr/sbin:/sbin
# The language is part of ccache's key: with it each user, and CI, would compile all anew.
unset LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES
CACHE=${XDG_CACHE_HOME:-${HOME:?HOME is not set}/.cache}/amdgpu-hotplug
JOBS=${JOBS:-$(nproc)}
LINUX_SERIES=${LINUX_SERIES:-7.3}
export TOP CACHE JOBS LINUX_SERIES

say() { printf '%s\n' "--- $*" >&2; }

# One clear line that says what to do, then a non-zero exit.
die() { printf '%s\n' "error: $*" >&2; exit 1; }

# need COMMAND[=PACKAGE]...: refuse on a host that lacks one of these commands, and say how root gets them.
need() {
    local each lacking=() packages=()
    for each in "$@"; do
        command -v "${each%=*}" >/dev/null || { lacking+=("${each%=*}"); packages+=("${each#*=}"); }
    done
    [ ${#lacking[@]} -eq 0 ] ||
        die "missing on this host: ${lacking[*]}; as root: apt-get install $(printf '%s\n' "${packages[@]}" | sort -u | xargs)"
}

# need_space DIR MIB: refuse before half a build is written.
need_space() {
    mkdir -p "$1" || die "cannot create $1: set XDG_CACHE_HOME to a writable folder"
    local free
    free=$(df -Pm "$1" | awk 'NR==2 {print $4}')
    [ "$free" -ge "$2" ] || die "$1 has $free MiB free, $2 MiB are needed: free some space or set XDG_CACHE_HOME"
}

# publish TMP FINAL: a result appears in the cache whole or not at all.
publish() { rm -rf "$2.old"; [ ! -e "$2" ] || mv "$2" "$2.old"; mv "$1" "$2"; rm -rf "$2.old"; }

# lock NAME: one builder of an artefact at a time; held until the script ends.
lock() {
    mkdir -p "$CACHE/locks"
    exec {LOCK_FD}>"$CACHE/locks/$1"
    flock -n "$LOCK_FD" || { say "waiting for another run to finish '$1'"; flock "$LOCK_FD"; }
}

# hash_of ARGS/FILES: short key of strings, and of name and content of the files named. Not of their folder: a key is the same in
# each clone.
hash_of() {
    local a
    for a in "$@"; do
        if [ -f "$a" ]; then printf 'file %q ' "${a##*/}"; sha256sum <"$a"; else printf 'text %q\n' "$a"; fi
    done | sha256sum | cut -c1-12
}

# --- Debian packages of another suite, without root -----------------------------------------------------------------

# apt's own locks are off, for they are root's. Whatever calls private_apt is a subshell, ( ), that begins with `lock apt`: so one apt is at
# work at a time, and the lock ends with the call.
APT_STATE=$CACHE/apt
DEBIAN_SUITES="trixie trixie-backports"
APT_OPTIONS=()

# The host's own Debian mirror; a host that is not Debian names one in DEBIAN_MIRROR.
debian_mirror() {
    if [ -n "${DEBIAN_MIRROR:-}" ]; then printf '%s\n' "$DEBIAN_MIRROR"; return; fi
    apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 2>/dev/null | grep -m 1 -E '/debian/?$' ||
        die "no Debian mirror in the host's apt sources: set DEBIAN_MIRROR to one"
}

private_apt() {
    local tool=$1; shift
    "$tool" -q -o Dir::Etc::sourcelist=/dev/null -o Dir::Etc::sourceparts="$APT_STATE/sources" \
        -o Dir::State="$APT_STATE/state" -o Dir::State::status="$APT_STATE/state/status" \
        -o Dir::Cache="$APT_STATE/cache" -o APT::Architecture=amd64 -o APT::Architectures=amd64 \
        -o APT::Get::List-Cleanup=false -o APT::Sandbox::User="$(id -un)" -o Debug::NoLocking=true \
        -o Binary::apt-get::APT::Keep-Downloaded-Packages=true -o APT::Keep-Downloaded-Packages=true \
        -o DPkg::Post-Invoke= -o APT::Update::Post-Invoke= -o APT::Update::Post-Invoke-Success= \
        "${APT_OPTIONS[@]}" "$@"
}

# take_from_sid PACKAGES...: from here on these are Debian sid's, and nothing else is: what they depend on is taken from sid only when it
# is named, too. apt gets a state of its own for that, so that who wants nothing of sid does not read its index.
take_from_sid() {
    APT_STATE=$CACHE/apt-sid
    DEBIAN_SUITES="trixie sid"
    # Others may want other packages of sid at the same time.
    local preferences
    preferences=$APT_STATE/preferences-$(hash_of "$@")
    APT_OPTIONS=(-o Dir::Etc::preferences="$preferences" -o Dir::Etc::preferencesparts=/dev/null)
    mkdir -p "$APT_STATE"
    printf 'Package: %s\nPin: release n=sid\nPin-Priority: %s\n\n' '*' -1 "$*" 995 >"$preferences"
}

# The suites wanted, with an index not older than a day; offline, an older index serves.
private_apt_update() (
    lock apt
    local keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    need apt-get=apt dpkg-deb=dpkg
    [ -r $keyring ] || die "$keyring is missing; as root: apt-get install debian-archive-keyring"
    mkdir -p "$APT_STATE"/{sources,state/lists/partial,cache/archives/partial}
    : >"$APT_STATE/state/status"
    local stamp=$APT_STATE/updated
    [ -z "$(find "$stamp" -mtime -1 2>/dev/null)" ] || return 0
    cat >"$APT_STATE/sources/debian.sources" <<END
Types: deb
URIs: $(debian_mirror)
Suites: $DEBIAN_SUITES
Components: main
Architectures: amd64
Signed-By: $keyring
END
    if private_apt apt-get update >"$APT_STATE/update.log" 2>&1 && ! grep -q '^[EW]: ' "$APT_STATE/update.log"; then
        touch "$stamp"
    elif [ -e "$stamp" ]; then
        say "package index not refreshed (offline?), using the one of $(date -r "$stamp" +%F)"
    else
        die "cannot read the index of Debian's $DEBIAN_SUITES: check network and apt configuration ($APT_STATE/update.log)"
    fi
)

# deb_version PACKAGE [SUITE]: the version that would be fetched.
deb_version() (
    lock apt
    private_apt apt-cache policy "$1" 2>/dev/null | awk -v s="${2:-}" '
        $1 == "Candidate:" { candidate = $2 }
        $1 == "***" { v = $2; next }
        NF == 2 && $2 ~ /^[0-9-]+$/ { v = $1 }
        !found && s != "" && index($0, " " s "/") { found = v }
        END { print s == "" ? candidate : found }'
)

# deb_download PACKAGE VERSION DIR: download this one package, without what it depends on; prints the path of the .deb.
deb_download() (
    lock apt
    local apt_log=$APT_STATE/fetch-$1.log
    mkdir -p "$3"
    rm -f "$3/$1"_*.deb
    (cd "$3" && private_apt apt-get download "$1=$2") >"$apt_log" 2>&1 ||
        die "cannot download $1: check network and apt configuration ($apt_log)"
    printf '%s\n' "$3/$1"_*.deb
)

# deb_fetch SUITE PACKAGES...: download these and all they depend on; prints the .deb paths.
deb_fetch() (
    lock apt
    local suite=$1 uris; shift
    local apt_log=$APT_STATE/fetch-$1.log
    # Asked with an empty archive: --print-uris leaves out what is already downloaded.
    mkdir -p "$APT_STATE/empty/partial"
    uris=$(private_apt apt-get install -y --no-install-recommends --download-only -t "$suite" --print-uris \
        -o Dir::Cache::archives="$APT_STATE/empty" "$@" 2>"$apt_log") ||
        die "Debian's $suite cannot provide '$*' ($apt_log)"
    need_space "$APT_STATE" 2000
    private_apt apt-get install -y --no-install-recommends --download-only -t "$suite" "$@" >"$apt_log" 2>&1 ||
        die "cannot download '$*': check network and apt configuration ($apt_log)"
    awk -v d="$APT_STATE/cache/archives/" '/^\x27/ { print d $2 }' <<<"$uris"
)
