// swift-tools-version: 6.3

import PackageDescription

// One list for every target, so that no file plays by other rules than its neighbour.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

// Leaves first: a target imports only from what stands above it in this list.
let package = Package(
  name: "keytree",
  products: [
    .library(name: "Keyring", targets: ["Keyring"]),
    .library(name: "KeychainServices", targets: ["KeychainServices"]),
    .library(name: "KeychainPasswords", targets: ["KeychainPasswords"]),
    .executable(name: "keytree", targets: ["keytree"]),
  ],
  targets: [
    .systemLibrary(
      name: "CGPGME", pkgConfig: "gpgme", providers: [.apt(["libgpgme-dev"])]),
    .systemLibrary(
      name: "CGcrypt", pkgConfig: "libgcrypt", providers: [.apt(["libgcrypt20-dev"])]),
    .systemLibrary(name: "CKsba", pkgConfig: "ksba", providers: [.apt(["libksba-dev"])]),
    .systemLibrary(name: "CExpat", pkgConfig: "expat", providers: [.apt(["libexpat1-dev"])]),
    .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
    .systemLibrary(name: "CQREncode", pkgConfig: "libqrencode", providers: [.apt(["libqrencode-dev"])]),
    .target(name: "CSystem"),
    .target(name: "Secrets", dependencies: ["CSystem"], swiftSettings: settings),
    .target(name: "Encoding", dependencies: ["CSystem", "CGcrypt", "Secrets"], swiftSettings: settings),
    .target(name: "FileSystem", dependencies: ["CSystem"], swiftSettings: settings),
    .target(name: "Subprocess", dependencies: ["CSystem"], swiftSettings: settings),
    .target(
      name: "OneTimePasswords", dependencies: ["CSystem", "CGcrypt", "Encoding", "Secrets"],
      swiftSettings: settings),
    .target(name: "KeyringModel", dependencies: ["CSystem", "Encoding"], swiftSettings: settings),
    .target(
      name: "OpenPGP",
      dependencies: ["CSystem", "CGPGME", "Encoding", "FileSystem", "KeyringModel", "Secrets"],
      swiftSettings: settings),
    .target(
      name: "Keyring",
      dependencies: ["CSystem", "Encoding", "FileSystem", "KeyringModel", "OpenPGP", "Secrets"],
      swiftSettings: settings),
    .target(
      name: "Sync",
      dependencies: [
        "CSystem", "Encoding", "FileSystem", "Keyring", "KeyringModel", "OpenPGP", "Subprocess",
      ],
      swiftSettings: settings),
    .target(
      name: "Credentials", dependencies: ["Encoding", "Keyring", "KeyringModel", "Secrets"],
      swiftSettings: settings),
    .target(
      name: "KeychainServices",
      dependencies: ["CSystem", "CKsba", "Encoding", "Keyring", "KeyringModel", "OpenPGP", "Secrets"],
      swiftSettings: settings),
    // Written against Apple's functions alone, which are the system's own elsewhere.
    .target(
      name: "KeychainPasswords",
      dependencies: [.target(name: "KeychainServices", condition: .when(platforms: [.linux]))],
      swiftSettings: settings),
    .target(name: "Arguments", swiftSettings: settings),
    .target(
      name: "Interchange",
      dependencies: [
        "CSystem", "CExpat", "CZlib", "Encoding", "FileSystem", "Keyring", "KeyringModel", "OneTimePasswords",
        "Secrets",
      ],
      swiftSettings: settings),
    .target(
      name: "Terminal",
      dependencies: ["CSystem", "CQREncode", "Encoding", "FileSystem", "OpenPGP", "Secrets", "Subprocess"],
      swiftSettings: settings),
    .target(
      name: "CommandSupport",
      dependencies: [
        "CSystem", "Arguments", "Credentials", "Encoding", "FileSystem", "Interchange", "Keyring",
        "KeyringModel",
        "OneTimePasswords", "OpenPGP", "Secrets", "Subprocess", "Sync", "Terminal",
      ],
      swiftSettings: settings),
    .target(
      name: "Personalities",
      dependencies: [
        "CSystem", "Arguments", "CommandSupport", "Credentials", "Encoding", "FileSystem", "Keyring",
        "KeyringModel",
        "OpenPGP", "Secrets", "Subprocess", "Sync", "Terminal",
      ],
      swiftSettings: settings),
    .target(
      name: "KeytreeCLI",
      dependencies: [
        "CSystem", "Arguments", "CommandSupport", "Credentials", "Encoding", "FileSystem", "Interchange",
        "Keyring",
        "KeyringModel", "OneTimePasswords", "OpenPGP", "Personalities", "Secrets", "Subprocess", "Sync",
        "Terminal",
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "keytree", dependencies: ["KeytreeCLI"], exclude: ["Linking"], swiftSettings: settings),
    // Not a product: it measures the command that stands beside it, and the library in a process that goes on.
    .executableTarget(
      name: "keytree-benchmark",
      dependencies: ["CSystem", "Encoding", "FileSystem", "Keyring", "KeyringModel"],
      path: "Sources/KeytreeBenchmark", swiftSettings: settings),

    // Not a product either: what `keytree-benchmark` runs to measure Apple's functions, which need Foundation.
    .executableTarget(
      name: "secitem-benchmark", dependencies: ["OpenPGP", "KeychainServices"],
      path: "Sources/SecItemBenchmark", swiftSettings: settings),

    .target(
      name: "TestSupport",
      dependencies: [
        "CSystem", "Encoding", "FileSystem", "Keyring", "KeyringModel", "OpenPGP", "Secrets",
      ],
      path: "Tests/TestSupport", swiftSettings: settings),
    .testTarget(name: "SecretsTests", dependencies: ["Secrets", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "EncodingTests", dependencies: ["Encoding", "Secrets", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "OneTimePasswordsTests", dependencies: ["Encoding", "OneTimePasswords", "Secrets"],
      swiftSettings: settings),
    .testTarget(
      name: "FileSystemTests", dependencies: ["FileSystem", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "SubprocessTests", dependencies: ["Subprocess", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "KeyringModelTests", dependencies: ["Encoding", "KeyringModel", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "OpenPGPTests", dependencies: ["Encoding", "FileSystem", "OpenPGP", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "KeyringTests",
      dependencies: [
        "Encoding", "FileSystem", "Keyring", "KeyringModel", "OpenPGP", "Secrets", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "SyncTests",
      dependencies: [
        "Encoding", "FileSystem", "Keyring", "KeyringModel", "Subprocess", "Sync", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CredentialsTests",
      dependencies: ["Credentials", "Encoding", "Keyring", "KeyringModel", "Secrets", "TestSupport"],
      swiftSettings: settings),
    .testTarget(name: "ArgumentsTests", dependencies: ["Arguments"], swiftSettings: settings),
    .testTarget(
      name: "KeytreeCLITests",
      dependencies: [
        "CommandSupport", "Encoding", "FileSystem", "Interchange", "Keyring", "KeytreeCLI", "Personalities",
        "Sync",
        "Terminal", "TestSupport", "keytree",
      ],
      swiftSettings: settings),
  ]
)

#if os(Linux)
  // Apple's names for the same thing. A module called `Security` that was built makes `canImport(Security)` true for
  // all that is built with it, so a package asks for these one by one; on Apple's systems they do not exist.
  for name in ["Security", "LocalAuthentication", "AuthenticationServices"] {
    package.products.append(.library(name: name, targets: [name]))
    package.targets.append(.target(name: name, dependencies: ["KeychainServices"], swiftSettings: settings))
  }
  package.targets.append(
    .target(
      name: "KeychainTestSupport", dependencies: ["KeychainServices", "Keyring", "TestSupport"],
      path: "Tests/KeychainTestSupport", swiftSettings: settings))
  package.targets.append(
    .testTarget(
      name: "KeychainServicesTests",
      dependencies: [
        "Security", "Encoding", "KeychainServices", "Keyring", "OpenPGP", "KeyringModel", "Secrets",
        "TestSupport",
        "KeychainTestSupport",
      ],
      swiftSettings: settings))
  package.targets.append(
    .testTarget(
      name: "KeychainPasswordsTests",
      dependencies: [
        "KeychainPasswords", "KeychainServices", "Keyring", "TestSupport", "KeychainTestSupport",
      ],
      swiftSettings: settings))
  // As most code for Apple's keychain is compiled: an older mode of the language and none of the settings above.
  package.targets.append(
    .testTarget(
      name: "KeychainServicesSwift5Tests", dependencies: ["AuthenticationServices", "KeychainTestSupport"],
      swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]))
#endif
