// swift-tools-version: 6.3

import PackageDescription

// One list of settings for all targets.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

// Leaves first: a target imports only targets above it in this list.
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
    // These four have no pkgConfig, because they are not linked: libgpgme loads the first one, and a command loads each
    // of the others when it needs it.
    .systemLibrary(name: "CAssuan", providers: [.apt(["libassuan-dev"])]),
    .systemLibrary(name: "CExpat"),
    .systemLibrary(name: "CZlib"),
    .systemLibrary(name: "CQREncode"),
    .target(name: "CSystem"),
    .target(name: "CArguments"),
    .target(name: "CSDBus"),
    .target(name: "Clocks", swiftSettings: settings),
    .target(name: "Secrets", dependencies: ["CSystem", "Clocks"], swiftSettings: settings),
    .target(name: "Encoding", dependencies: ["CSystem", "CGcrypt", "Secrets"], swiftSettings: settings),
    .target(name: "FileSystem", dependencies: ["CSystem"], swiftSettings: settings),
    .target(name: "Subprocess", dependencies: ["CSystem", "Clocks"], swiftSettings: settings),
    .target(
      name: "OneTimePasswords", dependencies: ["CGcrypt", "Encoding", "Secrets"],
      swiftSettings: settings),
    .target(name: "KeyringModel", dependencies: ["Encoding"], swiftSettings: settings),
    .target(
      name: "OpenPGP",
      dependencies: [
        "CSystem", "CAssuan", "CGPGME", "Encoding", "FileSystem", "KeyringModel", "Secrets", "Subprocess",
      ],
      swiftSettings: settings),
    .target(
      name: "Git",
      dependencies: ["CSystem", "Encoding", "FileSystem", "KeyringModel", "Subprocess"],
      swiftSettings: settings),
    .target(
      name: "Keyring",
      dependencies: [
        "CSystem", "Clocks", "Encoding", "FileSystem", "Git", "KeyringModel", "OpenPGP", "Secrets",
        "Subprocess",
      ],
      swiftSettings: settings),
    .target(
      name: "Sync",
      dependencies: [
        "CSystem", "Encoding", "FileSystem", "Git", "Keyring", "KeyringModel", "OpenPGP", "Subprocess",
      ],
      swiftSettings: settings),
    .target(
      name: "Credentials", dependencies: ["Encoding", "Keyring", "KeyringModel", "Secrets"],
      swiftSettings: settings),
    .target(name: "SessionBus", dependencies: ["CSDBus", "Secrets"], swiftSettings: settings),
    .target(
      name: "BrowserHost",
      dependencies: [
        "Credentials", "Encoding", "FileSystem", "Keyring", "KeyringModel", "OneTimePasswords", "OpenPGP",
        "Secrets",
      ],
      swiftSettings: settings),
    .target(
      name: "KeychainServices",
      dependencies: ["CSystem", "CKsba", "Encoding", "Keyring", "KeyringModel", "OpenPGP", "Secrets"],
      swiftSettings: settings),
    // Uses only Apple's functions. On other platforms the system provides them.
    .target(
      name: "KeychainPasswords",
      dependencies: [.target(name: "KeychainServices", condition: .when(platforms: [.linux]))],
      swiftSettings: settings),
    // The freedesktop Secret Service: its rules, without D-Bus.
    .target(
      name: "SecretService",
      dependencies: [
        "CGcrypt", "CSystem", "Encoding", "FileSystem", "Keyring", "KeyringModel", "OpenPGP", "Secrets",
      ],
      swiftSettings: settings),
    .target(
      name: "DesktopKeyring",
      dependencies: ["CSystem", "Clocks", "Encoding", "SecretService", "Secrets", "SessionBus"],
      swiftSettings: settings),
    .target(name: "Arguments", swiftSettings: settings),
    .target(
      name: "Interchange",
      dependencies: ["CSystem", "CExpat", "CZlib", "Encoding", "FileSystem", "KeyringModel", "Secrets"],
      swiftSettings: settings),
    .target(
      name: "Terminal",
      dependencies: [
        "CSystem", "CQREncode", "Arguments", "Clocks", "Encoding", "FileSystem", "KeyringModel", "Secrets",
        "Subprocess",
      ],
      swiftSettings: settings),
    .target(
      name: "CommandSupport",
      dependencies: [
        "Arguments", "Credentials", "Encoding", "FileSystem", "Interchange", "Keyring", "KeyringModel",
        "OneTimePasswords", "OpenPGP", "Secrets", "SessionBus", "Sync", "Subprocess", "Terminal",
      ],
      swiftSettings: settings),
    .target(
      name: "Personalities",
      dependencies: [
        "Arguments", "BrowserHost", "CommandSupport", "Credentials", "Encoding", "FileSystem", "Keyring",
        "KeyringModel", "Secrets", "Subprocess", "Terminal",
      ],
      swiftSettings: settings),
    .target(
      name: "PasswordAudit",
      dependencies: [
        "CSystem", "CommandSupport", "Encoding", "Keyring", "KeyringModel", "OpenPGP", "Secrets", "Terminal",
      ],
      swiftSettings: settings),
    .target(
      name: "KeytreeCLI",
      dependencies: [
        "CSystem", "Arguments", "BrowserHost", "Clocks", "CommandSupport", "Credentials", "DesktopKeyring",
        "Encoding", "FileSystem", "Interchange", "Keyring", "KeyringModel", "OneTimePasswords", "OpenPGP",
        "PasswordAudit",
        "Personalities", "SecretService", "Secrets", "SessionBus", "Subprocess", "Sync", "Terminal",
      ],
      swiftSettings: settings),
    .executableTarget(
      name: "keytree", dependencies: ["CArguments", "KeytreeCLI"], exclude: ["Linking"],
      swiftSettings: settings, plugins: ["EmbedCommit"]),
    // Compiles the commit of the checkout into the command.
    .plugin(name: "EmbedCommit", capability: .buildTool(), path: "Sources/EmbedCommit"),
    // Not a product. Measures the `keytree` command beside it, and the library in a long-running process.
    .executableTarget(
      name: "keytree-benchmark",
      dependencies: [
        "CSystem", "Keyring", "KeyringModel", "SecretService", "Secrets", "SessionBus", "Subprocess",
      ],
      path: "Sources/KeytreeBenchmark", swiftSettings: settings),

    // Not a product. `keytree-benchmark` runs it to measure Apple's functions, which need Foundation.
    .executableTarget(
      name: "secitem-benchmark", dependencies: ["OpenPGP", "KeychainServices"],
      path: "Sources/SecItemBenchmark", swiftSettings: settings),

    // Not a product. `.ci/fuzz` builds it with libFuzzer; an ordinary build of it runs the parsers with files.
    .executableTarget(
      name: "keytree-fuzz",
      dependencies: [
        "Arguments", "BrowserHost", "CommandSupport", "Credentials", "DesktopKeyring", "Encoding",
        "Interchange",
        "KeychainServices", "KeyringModel", "KeytreeCLI", "OneTimePasswords", "OpenPGP", "Personalities",
        "SecretService", "Secrets", "SessionBus",
      ],
      path: "Sources/Fuzzing", swiftSettings: settings),

    .target(
      name: "TestSupport",
      dependencies: ["Encoding", "Keyring", "KeyringModel", "OpenPGP", "Secrets"],
      path: "Tests/TestSupport", swiftSettings: settings),
    .testTarget(
      name: "FuzzingTests", dependencies: ["TestSupport", "keytree-fuzz"], swiftSettings: settings),
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
      name: "OpenPGPTests",
      dependencies: ["CSystem", "Encoding", "KeyringModel", "OpenPGP", "Secrets", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "KeyringTests",
      dependencies: ["Encoding", "Keyring", "KeyringModel", "OpenPGP", "Secrets", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "SyncTests",
      dependencies: [
        "Encoding", "Keyring", "KeyringModel", "OpenPGP", "Secrets", "Subprocess", "Sync", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "CredentialsTests",
      dependencies: ["Credentials", "Keyring", "KeyringModel", "Secrets", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "BrowserHostTests",
      dependencies: ["BrowserHost", "Encoding", "Keyring", "KeyringModel", "Secrets", "TestSupport"],
      swiftSettings: settings),
    .testTarget(
      name: "SecretServiceTests",
      dependencies: [
        "Encoding", "Keyring", "KeyringModel", "OpenPGP", "SecretService", "Secrets", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "DesktopKeyringTests",
      dependencies: [
        "Clocks", "DesktopKeyring", "Keyring", "KeyringModel", "OpenPGP", "SecretService", "Secrets",
        "SessionBus", "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "SessionBusTests", dependencies: ["CSystem", "Secrets", "SessionBus", "TestSupport"],
      swiftSettings: settings),
    .testTarget(name: "ArgumentsTests", dependencies: ["Arguments"], swiftSettings: settings),
    .testTarget(
      name: "PasswordAuditTests",
      dependencies: [
        "CommandSupport", "Encoding", "Keyring", "KeyringModel", "PasswordAudit", "Secrets", "Terminal",
        "TestSupport",
      ],
      swiftSettings: settings),
    .testTarget(
      name: "KeytreeCLITests",
      dependencies: [
        "Arguments", "BrowserHost", "CommandSupport", "Credentials", "Encoding", "Interchange", "Keyring",
        "KeyringModel", "KeytreeCLI", "OpenPGP", "PasswordAudit", "Personalities", "Secrets", "SessionBus",
        "Subprocess", "Sync", "Terminal", "TestSupport", "keytree",
      ],
      swiftSettings: settings),
  ]
)

#if os(Linux)
  // Modules with Apple's names that re-export `KeychainServices`. Each is a separate product, because a `Security`
  // module in a build makes `canImport(Security)` true for every package in that build. They do not exist on Apple's
  // systems.
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
        "secitem-benchmark",
      ],
      swiftSettings: settings))
  // Compiled like most code for Apple's keychain: in Swift 5 mode and without the settings above.
  package.targets.append(
    .testTarget(
      name: "KeychainServicesSwift5Tests", dependencies: ["AuthenticationServices", "KeychainTestSupport"],
      swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]))
#endif
