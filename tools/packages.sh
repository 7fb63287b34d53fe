# SPDX-License-Identifier: Apache-2.0
# Sourced by quickstart and check: installs the Debian packages of packages.txt that are missing.

# The packages of the parts given, one a line.
packages_of() {
    local part
    for part in "$@"; do
        awk -v part="$part" '$1 == part { print $2 }' "$(dirname "${BASH_SOURCE[0]}")/packages.txt"
    done
}

missing_packages() {
    local package
    for package in $(packages_of "$@"); do
        dpkg-query -W -f '${db:Status-Status}\n' "$package" 2>/dev/null | grep -qx installed ||
            echo "$package"
    done
}

# need_packages PART...: returns when all are there; else says what to do and ends with status 1.
need_packages() {
    local missing as_root=() log
    if ! command -v dpkg-query >/dev/null; then
        echo "not a Debian system: packages are not looked at; these are used under Debian:"
        packages_of "$@" | tr '\n' ' '
        echo
        return 0
    fi
    missing=$(missing_packages "$@" | tr '\n' ' ')
    [ -n "$missing" ] || return 0
    if [ "$(id -u)" -ne 0 ]; then
        if command -v sudo >/dev/null && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
            as_root=(sudo)
        else
            echo "missing packages: $missing" >&2
            echo "install them with: sudo apt-get install -y $missing" >&2
            exit 1
        fi
    fi
    echo "installing: $missing"
    log=$(mktemp)
    # shellcheck disable=SC2086  # one argument per package
    if ! { "${as_root[@]}" apt-get update -q &&
        "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
            apt-get install -y -q --no-install-recommends $missing; } >"$log" 2>&1 </dev/null; then
        tail -n 30 "$log" >&2
        echo "could not install: $missing" >&2
        echo "the whole output is in $log; the command was: apt-get install -y $missing" >&2
        exit 1
    fi
    rm -f "$log"
}

# Debian's own meson and python where they are: others may be first in PATH and lack modules.
debian_program() {
    if [ -x "/usr/bin/$1" ]; then echo "/usr/bin/$1"; else echo "$1"; fi
}
