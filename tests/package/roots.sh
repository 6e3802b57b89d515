# shellcheck shell=bash
# What the tests in fresh roots share: read it with `source`. A root is a folder with a system of its own, made by
# debootstrap and entered by chroot; all of them, and what is mounted in them, are gone when the script ends.

cannot() {
  printf '%s: %s\n' "${0##*/}" "$1" >&2
  exit 3
}

# need_roots SUITE: makes the folder $work for the roots, and ends with code 3 when roots cannot be made here.
need_roots() {
  ((EUID == 0)) || cannot "debootstrap and chroot need root"
  command -v debootstrap >/dev/null || cannot "the package debootstrap is missing"
  [[ -e /usr/share/debootstrap/scripts/$1 ]] || cannot "debootstrap here knows no '$1'"
  work=$(mktemp -d "${TMPDIR:-/var/tmp}/lanewise-roots-XXXXXX")
  trap remove_roots EXIT
}

remove_roots() {
  local code=$? place
  # The last mounted first. What a program still uses is detached: it stays there until that program ends, but nothing of it
  # is below the roots any more. A mounted folder may be of the same file system, so rm would go into it.
  while read -r place; do umount -- "$place" 2>/dev/null || umount --lazy -- "$place" || true; done < <(mounted | tac)
  if [[ -n $(mounted) ]]; then
    printf 'left, with what is mounted there: %s\n' "$work" >&2
  else
    rm -rf --one-file-system -- "$work"
  fi
  exit "$code"
}
mounted() { awk -v work="$work/" 'index($2, work) == 1 {print $2}' /proc/mounts; }

# new_root NAME SUITE: a root with a minimal system; the second of a suite is a copy of the first before it was used.
# LANEWISE_ROOTS: a folder with a root of each suite as debootstrap made it, to be copied instead of making one.
new_root() {
  local root=$work/$1 kept=${LANEWISE_ROOTS:-$work}/kept-$2
  if [[ ! -e $kept ]]; then
    debootstrap --variant=minbase "$2" "$kept" "${LANEWISE_MIRROR:-http://deb.debian.org/debian}" >"$work/debootstrap.txt" 2>&1 ||
      { tail -n 20 "$work/debootstrap.txt" >&2 && cannot "debootstrap $2 failed"; }
  fi
  cp -a -- "$kept" "$root"
  mount -t proc proc "$root/proc"
  # LANEWISE_CCACHE: a folder for the compiler cache of all roots of a suite; without it everything is compiled.
  if [[ -n ${LANEWISE_CCACHE:-} ]]; then
    mkdir -p "$LANEWISE_CCACHE/$2" "$root/ccache"
    mount --bind "$LANEWISE_CCACHE/$2" "$root/ccache"
  fi
}

# inside NAME COMMAND...: runs it in the root with a plain environment.
inside() {
  local root=$work/$1
  shift
  chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    CCACHE_DIR=/ccache LANEWISE_JOBS="${LANEWISE_JOBS:-}" "$@"
}

# add_cache NAME: the compiler cache, where LANEWISE_CCACHE asks for it.
add_cache() {
  [[ -n ${LANEWISE_CCACHE:-} ]] || return 0
  inside "$1" sh -c 'apt-get -qq update && apt-get -qq install -y --no-install-recommends ccache' >/dev/null 2>&1
}

# put_sources NAME FOLDER: the sources as they are here, known to git or new; not what is built.
put_sources() {
  mkdir -p "$work/$1/$2"
  git ls-files -z --cached --others --exclude-standard | tar -c --null -T - | tar -x -C "$work/$1/$2"
}

say() { printf '\n## %s\n' "$*"; }
