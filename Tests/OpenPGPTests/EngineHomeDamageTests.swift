import Foundation
import Glibc
import KeyringModel
import OpenPGP
import TestSupport
import Testing

/// Tests that an engine home that differs from what was written is created again.
@Suite(.serialized) struct EngineHomeDamageTests {
  private let home: GnuPGHome
  private let sealed: [UInt8]

  init() throws {
    home = try GnuPGHome(secret: [.alice])
    let engine = Engine(home, people: [.alice])
    sealed = try engine.sealed(to: [.alice])
    // The first signature writes the default signer.
    _ = try engine.signed(by: .alice)
  }

  private var folder: String {
    get throws { home.locations.runtimeBase + "/" + (try #require(try home.engineHomes.first)) }
  }

  private var redirect: String {
    get throws {
      let line = try GnuPGTool.run("gpgconf", ["--homedir", try folder, "--list-dirs", "agent-socket"])
      return String(decoding: line.dropLast(), as: UTF8.self)
    }
  }

  /// The path of a file of the home. The redirect may be elsewhere.
  private func path(_ name: String) throws -> String {
    name == "redirect" ? try redirect : try folder + "/" + name
  }

  /// Fails unless every operation works.
  private func useAll(_ engine: Engine) throws {
    #expect(try engine.opened(sealed) == Array("hello".utf8))
    #expect(try engine.opened(try engine.sealed(to: [.alice])) == Array("hello".utf8))
    #expect(try engine.signed(by: .alice)?.status == .good)
    #expect(engine.report().redirect == .inPlace)
  }

  /// What an engine home is like: the type, the permissions and the content of each entry. Of files that differ each
  /// time, the size.
  private func state() throws -> [String: String] {
    let names = try FileManager.default.contentsOfDirectory(atPath: try folder)
    var state: [String: String] = [:]
    for name in names + ["", "redirect"] {
      let path = try path(name)
      var status = stat()
      #expect(unsafe lstat(path, &status) == 0)
      let isFile = status.st_mode & S_IFMT == S_IFREG && !["ready", "pubring.kbx"].contains(name)
      let content =
        isFile ? String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self) : ""
      state[name] =
        "\(String(status.st_mode, radix: 8)) \(isFile || name == "" ? 0 : status.st_size) \(content)"
    }
    return state
  }

  /// The ways to damage a file.
  enum Damage: CaseIterable {
    case removed, emptied, truncated, extended, changed, rewritten, touched, openToOthers, linked,
      replacedByFolder

    /// True if it leaves the content of the file as it was.
    var keepsContent: Bool { [.rewritten, .touched].contains(self) }

    func apply(to path: String) throws {
      let files = FileManager.default
      let content = try Data(contentsOf: URL(fileURLWithPath: path))
      func write(_ content: Data) throws {
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: content)
        try file.close()
      }
      switch self {
      case .removed: try files.removeItem(atPath: path)
      case .emptied: try write(Data())
      case .truncated: try write(content.dropLast(1))
      case .extended: try write(content + Data("x\n".utf8))
      case .changed: try write(Data(content.map { $0 ^ 1 }) + (content.isEmpty ? Data([10]) : Data()))
      case .rewritten: try content.write(to: URL(fileURLWithPath: path), options: .atomic)
      case .touched:
        try files.setAttributes([.modificationDate: Date(timeIntervalSinceNow: -3600)], ofItemAtPath: path)
      case .openToOthers: try files.setAttributes([.posixPermissions: 0o666], ofItemAtPath: path)
      case .linked:
        let moved = NSTemporaryDirectory() + "/" + UUID().uuidString
        try files.moveItem(atPath: path, toPath: moved)
        try files.createSymbolicLink(atPath: path, withDestinationPath: moved)
      case .replacedByFolder:
        try files.removeItem(atPath: path)
        try files.createDirectory(atPath: path + "/full", withIntermediateDirectories: true)
      }
    }
  }

  @Test(
    arguments: ["gpg.conf", "common.conf", "pubring.kbx", "keytree-keys", "lock", "ready", "redirect"],
    [false, true])
  func `a home with a damaged file is created again`(name: String, isRunning: Bool) throws {
    let expected = try state()
    let running = Engine(home, people: [.alice])
    if isRunning { try useAll(running) }
    for damage in Damage.allCases {
      // These may be rewritten with the same content.
      if damage.keepsContent, ["gpg.conf", "ready", "redirect"].contains(name) { continue }
      // A truncated empty file is not damaged.
      if name == "common.conf" || name == "lock", [.emptied, .truncated].contains(damage) { continue }
      let stamp = try Data(contentsOf: URL(fileURLWithPath: try path("ready")))
      try damage.apply(to: try path(name))
      try useAll(isRunning ? running : Engine(home, people: [.alice]))
      // After many signatures, an engine no longer uses the default signer.
      _ = try Engine(home, people: [.alice]).signed(by: .alice)
      #expect(try state() == expected, "\(damage)")
      #expect(try Data(contentsOf: URL(fileURLWithPath: try path("ready"))) != stamp, "\(damage)")
    }
  }

  @Test(arguments: [
    "gpg.conf-2", "gpg.conf-2.2", "trustdb.gpg", "pubring.gpg", "secring.gpg", "options", "tofu.db",
    ".hidden",
  ])
  func `a home with a file that Keytree did not write is created again`(name: String) throws {
    let expected = try state()
    try Data("quiet\n".utf8).write(to: URL(fileURLWithPath: try path(name)))
    try useAll(Engine(home, people: [.alice]))
    #expect(try state() == expected)
  }

  @Test(arguments: ["group \(GnuPGKey.alice.fingerprint.text)=0", "rfc2440", "unknown-option"])
  func `a line that was added to gpg.conf has no effect`(line: String) throws {
    let expected = try state()
    let configuration = try path("gpg.conf")
    let text = try String(contentsOfFile: configuration, encoding: .utf8)
    try (text + line + "\n").write(toFile: configuration, atomically: false, encoding: .utf8)
    try useAll(Engine(home, people: [.alice]))
    #expect(try state() == expected)
  }

  @Test(arguments: [0o755, 0o770, 0o707, 0o500, 0o000])
  func `a home that other users can access, or that the user cannot, is created again`(mode: Int) throws {
    let expected = try state()
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: try folder)
    try useAll(Engine(home, people: [.alice]))
    #expect(try state() == expected)
  }

  @Test(arguments: [false, true])
  func `a link or a file in place of the home is replaced and not followed`(isLink: Bool) throws {
    let expected = try state()
    let (folder, moved) = (try folder, home.folder + "/moved")
    try FileManager.default.moveItem(atPath: folder, toPath: moved)
    if isLink {
      try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: moved)
    } else {
      try Data().write(to: URL(fileURLWithPath: folder))
    }
    try useAll(Engine(home, people: [.alice]))
    #expect(try state() == expected)
    #expect(FileManager.default.fileExists(atPath: moved + "/ready"))
    #expect(
      try FileManager.default.contentsOfDirectory(atPath: home.locations.runtimeBase).allSatisfy {
        $0.first != "."
      })
  }

  /// A gpg that damages the home just before it does its work, once for each line of the file `damages`.
  private func damagingGPG(_ script: String) throws -> (
    EngineLocations, damage: () throws -> Void, wasDamaged: () -> Bool
  ) {
    let bin = home.folder + "/bin"
    try FileManager.default.createDirectory(atPath: bin, withIntermediateDirectories: false)
    let gpg = try #require(Engine(home, people: [.alice]).report().program)
    try ExecutableFile.write(
      """
      #!/bin/sh
      if [ -e \(bin)/armed ]; then
        rm \(bin)/armed
        cd \(try folder) && \(script)
      fi
      exec \(gpg) "$@"

      """, to: bin + "/gpg", mode: 0o755)
    var locations = home.locations
    locations.searchPath = bin + ":" + locations.searchPath
    let armed = bin + "/armed"
    return (
      locations, { try Data().write(to: URL(fileURLWithPath: armed)) },
      { !FileManager.default.fileExists(atPath: armed) }
    )
  }

  @Test(arguments: [
    ": >pubring.kbx", "rm pubring.kbx", "rm -r \"$PWD\"", "rm *", "echo no-such-option >>gpg.conf",
    "echo no-such-option >gpg.conf-2",
  ])
  func `a home that is damaged between the check and the use is created again`(script: String) throws {
    let (locations, damage, wasDamaged) = try damagingGPG(script)
    let engine = Engine(
      locations: locations, keyringID: "test", keys: GnuPGKey.files([.alice]), interaction: .never)
    let signed = try engine.signMessage(Array("hello".utf8), signer: GnuPGKey.alice.fingerprint)
    let detached = try engine.signDetached(Array("hello".utf8), signer: GnuPGKey.alice.fingerprint)
    let operations: [(String, () throws -> Bool)] = [
      ("decrypt", { try engine.opened(sealed) == Array("hello".utf8) }),
      ("encrypt", { try !engine.sealed(to: [.alice]).isEmpty }),
      ("sign", { try engine.signed(by: .alice)?.status == .good }),
      ("verify", { try engine.verifyMessages([signed]).map { $0?.status } == [.good] }),
      (
        "verify several",
        { try engine.verifyMessages([signed, signed]).map { $0?.status } == [.good, .good] }
      ),
      (
        "verify detached",
        {
          try engine.verifyDetached(signature: detached, of: Array("hello".utf8)).map(\.status) == [.good]
        }
      ),
      (
        "list the keys of the agent",
        { try engine.cachedPassphrases(of: Recipient(GnuPGKey.alice.fingerprint)) == .all }
      ),
    ]
    for (name, operation) in operations {
      try damage()
      do {
        #expect(try operation(), "\(name)")
      } catch {
        Issue.record("\(name): \(error)")
      }
      #expect(wasDamaged(), "\(name)")
    }
  }

  @Test(arguments: ["pubring.kbx", "ready"])
  func `a damaged home that other processes use is created again once`(name: String) async throws {
    let inUse = Engine(home, people: [.alice])
    try useAll(inUse)
    try Damage.emptied.apply(to: try path(name))
    let home = home
    let processes = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          let engine = Engine(home, people: [.alice])
          _ = try engine.sealed(to: [.alice])
          return engine.statistics.processes
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(processes.filter { $0 > 1 }.count == 1)
    try useAll(inUse)
  }

  @Test func `an undamaged home is used as it is`() throws {
    let engine = Engine(home, people: [.alice])
    try useAll(engine)
    let stamp = try Data(contentsOf: URL(fileURLWithPath: try path("ready")))
    for _ in 0..<3 {
      try useAll(engine)
      try useAll(Engine(home, people: [.alice]))
    }
    #expect(try Data(contentsOf: URL(fileURLWithPath: try path("ready"))) == stamp)
  }

  @Test func `a home without keys is used as it is`() throws {
    let message = try Engine(home, people: [.alice]).signMessage([1], signer: GnuPGKey.alice.fingerprint)
    for expected in [true, false] {
      let engine = Engine(locations: home.locations, keyringID: "none", keys: [:], interaction: .never)
      #expect(try engine.verifyMessages([message]).map { $0?.status } == [.unknownKey])
      #expect((engine.statistics.processes > 1) == expected)
    }
  }
}
