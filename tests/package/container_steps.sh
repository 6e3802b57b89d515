#!/usr/bin/env bash
# container_steps.sh: does the steps of Containerfile in fresh roots, for where there is nothing that builds containers.
# It reads them out of the file, so what is tried is what stands there. Needs root, debootstrap and the archive; exit
# code 3 when one of these is missing. LANEWISE_CCACHE as for fresh_root.sh.
set -euo pipefail
cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.."
# shellcheck source=tests/package/roots.sh
source tests/package/roots.sh
suite=bookworm
need_roots "$suite"
stage="" folder=/ entrypoint=()

# The image has no manual pages or documents, and will not install any (debuerreotype's slim variant).
slim() {
  mkdir -p "$work/$1/etc/dpkg/dpkg.cfg.d"
  printf 'path-exclude %s\n' '/usr/share/man/*' '/usr/share/doc/*' '/usr/share/locale/*' >"$work/$1/etc/dpkg/dpkg.cfg.d/docker"
}

# step INSTRUCTION REST
step() {
  local -a words
  printf '\n## %s %s\n' "$1" "$2"
  read -ra words <<<"$2"
  case $1 in
    FROM)
      [[ ${words[0]} == debian:$suite-slim ]] || cannot "no root for the image ${words[0]}"
      stage=${words[2]:-last}
      folder=/
      new_root "$stage" "$suite"
      slim "$stage"
      ;;
    WORKDIR)
      folder=${words[0]}
      mkdir -p "$work/$stage$folder"
      ;;
    COPY)
      if [[ ${words[0]} == --from=* ]]; then
        mkdir -p "$work/$stage${words[2]}"
        # shellcheck disable=SC2086  # the source is a pattern
        cp -- "$work/${words[0]#--from=}"${words[1]} "$work/$stage${words[2]}"
      else
        [[ ${words[0]} == . ]] || cannot "only the whole context is copied"
        put_sources "$stage" "$folder"
      fi
      ;;
    RUN)
      [[ $2 != *setup.sh* ]] || add_cache "$stage"
      inside "$stage" sh -c "cd $folder && $2" </dev/null
      ;;
    USER) user=${words[0]} ;;
    ENTRYPOINT) mapfile -t entrypoint < <(grep -o '"[^"]*"' <<<"$2" | tr -d '"') ;;
    *) cannot "the step $1 is not known" ;;
  esac
}

user=root
# Lines that end with a backslash go on.
while read -r instruction rest; do
  [[ -z $instruction || $instruction == '#'* ]] || step "$instruction" "$rest"
done < <(sed -e ':a' -e '/\\$/N; s/\\\n//; ta' Containerfile)

printf '\n## the program, as it is started there\n'
inside "$stage" su "$user" -s /bin/sh -c "cd / && ${entrypoint[*]} --version"
inside "$stage" su "$user" -s /bin/sh -c "cd / && ${entrypoint[*]} check acs-halves-bidirectional-p2p"
