# The same bytes in every language.
export LC_ALL=C.UTF-8

# Facts that the scripts in this folder share. They source this file, with the root of the checkout as the current folder.

stop() {
  echo "$(basename "$0"): $1" >&2
  exit 1
}

# The version number. ProgramVersion.swift is the only place that has it.
version=$(sed -n 's/.*static let number = "\([^"]*\)".*/\1/p' Sources/CommandSupport/Commands/ProgramVersion.swift)
[[ -n $version ]] || stop "ProgramVersion.swift has no version number"

# The commit, and the time of everything in a package, so that the same commit gives the same bytes. Sources from an
# archive have no repository, and one in a folder around them is not theirs; there the changelog is as old as the release.
export GIT_CEILING_DIRECTORIES=${PWD%/*}
commit=${KEYTREE_COMMIT:-}
if [[ -e .git && (-z $commit || -z ${SOURCE_DATE_EPOCH:-}) ]]; then
  head=$(git rev-parse --verify HEAD) || stop "git cannot read this repository"
  : "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct)}"
  # A package of files that are not committed must not claim to be that commit.
  [[ -n $commit ]] || commit=$head$([[ -z $(git status --porcelain) ]] || echo -changed)
fi
: "${SOURCE_DATE_EPOCH:=$(stat -c %Y CHANGELOG.md)}"
export SOURCE_DATE_EPOCH

# Builds the command with the flags of the first command of the README.
build_release() {
  # SwiftPM asks for the commit only when it makes the plan of the build, and would use the plan of an earlier commit.
  KEYTREE_COMMIT=$commit swift build -c release --product keytree --static-swift-stdlib --toolset .toolset.json \
    --disable-local-rpath --disable-build-manifest-caching
}

# Stops unless a program was built from the version and the commit of the sources.
check_program() {
  local shown
  shown=$("$1" version --json)
  [[ $shown == *"\"version\":\"$version\""* ]] || stop "$1 has another version than the source"
  [[ -z $commit || $shown == *"\"commit\":\"$commit\""* ]] || stop "$1 was built from another commit: $shown"
}
