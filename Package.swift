// swift-tools-version: 6.3

import PackageDescription

#if canImport(Glibc)
  import Glibc
#endif

// One list for every target, so that no file plays by other rules than its neighbour.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("MemberImportVisibility"),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
]

// How the command is linked: it starts anew for every secret, so the time in which it starts is the time that
// people wait. A shared C++ library (see the script in the folder) and relocations of 24 bytes each, of which
// the Swift runtime has 28,000, take more of it than everything the command does itself.
var linking = [
  "-use-ld=lld", "-L", "\(Context.packageDirectory)/Sources/keytree/Linking", "-Xclang-linker",
  "-static-libgcc",
]
#if canImport(Glibc)
  // "glibc 2.36"; older loaders do not know the short form of relocations.
  var name = [UInt8](repeating: 0, count: 64)
  confstr(Int32(_CS_GNU_LIBC_VERSION), &name, name.count)
  let version = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self).dropFirst("glibc ".count)
  if let version = Double(version), version >= 2.36 {
    linking += ["-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"]
  }
#endif

// Leaves first: a target imports only from what stands above it in this list.
let package = Package(
  name: "keytree",
  products: [
    .library(name: "Keyring", targets: ["Keyring"]),
    .library(name: "KeychainServices", targets: ["KeychainServices"]),
    .executable(name: "keytree", targets: ["keytree"]),
  ],
  targets: [
    .systemLibrary(
      name: "CGPGME", pkgConfig: "gpgme", providers: [.apt(["libgpgme-dev"])]),
    .systemLibrary(
      name: "CGcrypt", pkgConfig: "libgcrypt", providers: [.apt(["libgcrypt20-dev"])]),
    .systemLibrary(name: "CKsba", pkgConfig: "ksba", providers: [.apt(["libksba-dev"])]),
    .target(name: "CSystem"),
    .target(name: "Secrets", dependencies: ["CSystem"], swiftSettings: settings),
    .target(
      name: "KeyringModel", dependencies: ["CSystem", "CGcrypt"], swiftSettings: settings),
    .target(
      name: "OpenPGP", dependencies: ["CSystem", "CGPGME", "Secrets", "KeyringModel"],
      swiftSettings: settings),
    .target(
      name: "Keyring", dependencies: ["CSystem", "OpenPGP", "KeyringModel", "Secrets"],
      swiftSettings: settings),
    .target(
      name: "KeychainServices",
      dependencies: ["CSystem", "CGcrypt", "CKsba", "Keyring", "OpenPGP", "KeyringModel", "Secrets"],
      swiftSettings: settings),
    .target(name: "Arguments", swiftSettings: settings),
    .target(
      name: "KeytreeCLI",
      dependencies: ["CSystem", "Arguments", "Keyring", "OpenPGP", "KeyringModel", "Secrets"],
      swiftSettings: settings),
    .executableTarget(
      name: "keytree", dependencies: ["KeytreeCLI"], exclude: ["Linking"], swiftSettings: settings,
      linkerSettings: [.unsafeFlags(linking, .when(platforms: [.linux], configuration: .release))]),
    // Not a product: it measures the command that stands beside it.
    .executableTarget(
      name: "keytree-benchmark", dependencies: ["CSystem", "KeyringModel"],
      path: "Sources/KeytreeBenchmark", swiftSettings: settings),

    .target(
      name: "TestSupport",
      dependencies: ["CSystem", "Keyring", "OpenPGP", "KeyringModel", "Secrets"],
      path: "Tests/TestSupport", swiftSettings: settings),
    .testTarget(name: "SecretsTests", dependencies: ["Secrets", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "KeyringModelTests", dependencies: ["KeyringModel", "TestSupport"], swiftSettings: settings),
    .testTarget(name: "OpenPGPTests", dependencies: ["OpenPGP", "TestSupport"], swiftSettings: settings),
    .testTarget(
      name: "KeyringTests", dependencies: ["Keyring", "KeyringModel", "OpenPGP", "Secrets", "TestSupport"],
      swiftSettings: settings),
    .testTarget(name: "ArgumentsTests", dependencies: ["Arguments"], swiftSettings: settings),
    .testTarget(
      name: "KeytreeCLITests", dependencies: ["KeytreeCLI", "Keyring", "TestSupport", "keytree"],
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
    .testTarget(
      name: "KeychainServicesTests",
      dependencies: ["Security", "KeychainServices", "Keyring", "KeyringModel", "Secrets", "TestSupport"],
      swiftSettings: settings))
  // As most code for Apple's keychain is compiled: an older mode of the language and none of the settings above.
  package.targets.append(
    .testTarget(
      name: "KeychainServicesSwift5Tests", dependencies: ["AuthenticationServices"],
      swiftSettings: [.swiftLanguageMode(.v5), .treatAllWarnings(as: .error)]))
#endif
