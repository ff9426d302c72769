#!/bin/sh
# Installs Keytree from an archive, or removes it.
#
#   [DESTDIR=ROOT] ./install.sh PREFIX               installs below PREFIX, for example /usr/local or ~/.local
#   [DESTDIR=ROOT] ./install.sh --uninstall PREFIX   removes what this script has installed there
#
# An existing file that this script has not installed is never replaced. Stores, settings and keys are not touched.
# DESTDIR is for packagers: the files are written below ROOT, and contain the paths without it.
set -euf
umask 022

stop() {
  echo "install.sh: $1" >&2
  exit 1
}

case ${1:-} in
  -h | --help)
    sed -n '2,/^set /s/^# \{0,1\}//p' "$0"
    exit 0
    ;;
esac
uninstall=no
if [ "${1:-}" = --uninstall ]; then
  uninstall=yes
  shift
fi
if [ $# -ne 1 ] || [ -z "$1" ]; then stop "usage: ./install.sh [--uninstall] PREFIX"; fi
case $1 in
  # A mistyped option would become a folder.
  -*) stop "PREFIX must not begin with -; ./install.sh --help explains the options" ;;
  /*) prefix=$1 ;;
  *) prefix=$PWD/${1#./} ;;
esac
while [ "$prefix" != "${prefix%/}" ]; do prefix=${prefix%/}; done
[ -n "$prefix" ] || stop "PREFIX must not be /"
# The path is written into files with their own syntax.
case $prefix/ in
  */../* | */./*) stop "PREFIX must not contain the folders . and .." ;;
  *[!A-Za-z0-9._/+@-]*) stop "PREFIX may contain only letters, digits and ._/+@-" ;;
esac
base=${DESTDIR:-}$prefix
# The installed files and the folders that were made for them, one per line. Names of folders end with `/`. It is not
# in share/keytree, because ~/.local/share/keytree is the default store.
list=$base/lib/keytree/installed-files

# Removes the files and folders in the list, except the names in the file $1.
remove_except() {
  # In this order, what is in a folder comes before it. A folder with other files stays.
  LC_ALL=C sort -ru "$list" | grep -vxF -f "$1" | while IFS= read -r entry; do
    case /$entry in
      //* | */../* | */.. | */./*) stop "$list has an invalid line: $entry" ;;
      */) rmdir "$base/$entry" 2>/dev/null || true ;;
      *) rm -f "$base/$entry" "$base/$entry.keytree-new" ;;
    esac
  done
}

# Makes a folder below PREFIX and those above it, and adds the new ones to the list.
make_folder() {
  if [ "$1" = . ] || [ -d "$base/$1" ]; then return; fi
  make_folder "$(dirname "$1")"
  mkdir "$base/$1"
  made="$made$1/
"
}

if [ $uninstall = yes ]; then
  [ -f "$list" ] || stop "$list does not exist: nothing is installed below $base"
  remove_except /dev/null
  # Last, so that a removal that was interrupted can be repeated.
  folders=$(LC_ALL=C sort -ru "$list" | grep '/$' || true)
  rm -f "$list"
  for folder in $folders; do rmdir "$base/$folder" 2>/dev/null || true; done
  echo "Removed Keytree from $base."
  exit 0
fi

files=$(cd "$(dirname "$0")" && pwd)/files
[ -x "$files/bin/keytree" ] || stop "run this script in the folder of the archive"
names=$(cd "$files" && find . ! -type d | sed 's|^\./||' | LC_ALL=C sort)

if ! shown=$("$files/bin/keytree" version 2>&1); then
  echo "$shown" >&2
  case $shown in
    *"cannot open shared object file"*)
      stop "a library is missing; on Debian, these packages have all of them:
  apt-get install libgpgme11 libgcrypt20 libksba8 libexpat1 zlib1g libqrencode4 gnupg git"
      ;;
    *) stop "the program cannot run here" ;;
  esac
fi

for file in $names; do
  target=$base/$file
  if [ -e "$target" ] || [ -L "$target" ]; then
    grep -qxF "$file" "$list" 2>/dev/null || stop "$target exists, and this script has not installed it"
  fi
done

mkdir -p "$base"
made=
make_folder lib/keytree
printf %s "$made" >>"$list"
for file in $names; do
  made=
  make_folder "$(dirname "$file")"
  printf %s "$made" >>"$list"
  # Another process never sees half a file, and after a failure the old file is still there.
  new=$base/$file.keytree-new
  rm -f "$new"
  if [ -L "$files/$file" ]; then
    ln -s "$(readlink "$files/$file")" "$new"
  else
    case $file in
      share/man/*.gz) gunzip -c "$files/$file" | sed "s|/KEYTREE_PREFIX|$prefix|g" | gzip -9n >"$new" ;;
      bin/*) cp "$files/$file" "$new" ;;
      *.gz) cp "$files/$file" "$new" ;;
      *) sed "s|/KEYTREE_PREFIX|$prefix|g" "$files/$file" >"$new" ;;
    esac
    # Not the mode of the unpacked file, which depends on the umask of whoever unpacked it.
    case $file in
      bin/*) chmod 755 "$new" ;;
      *) chmod 644 "$new" ;;
    esac
  fi
  # Written before the file is there, so that an installation that was interrupted can be repeated and removed.
  printf '%s\n' "$file" >>"$list"
  mv -f "$new" "$base/$file"
done
# An older version may have files that this one lacks.
kept=$(mktemp)
{ printf '%s\n' "$names"; grep '/$' "$list" || true; } | LC_ALL=C sort -u >"$kept"
remove_except "$kept"
cat "$kept" >"$list"
rm -f "$kept"
echo "Installed $shown below $base."
echo "Keytree needs gnupg and git. \`keytree demo\` shows what it does, if $prefix/bin is in PATH."
