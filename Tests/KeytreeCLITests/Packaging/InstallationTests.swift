import Foundation
import Glibc
import TestSupport
import Testing

/// The files that the packages install, made from the built command.
@Suite(.serialized)
struct InstallationTests {
  private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

  private let folder = ScratchFolder()

  /// Runs a script.
  ///
  /// - Returns: Its exit status, and all that it writes.
  @discardableResult
  private func run(_ words: [String], _ more: [String: String] = [:]) throws -> (status: Int32, text: String)
  {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = words
    // The scripts read these from git, which may refuse the checkout of another user.
    process.environment = [
      "PATH": "/usr/bin:/bin", "SOURCE_DATE_EPOCH": "1000000000",
      "KEYTREE_COMMIT": String(repeating: "a", count: 40),
    ].merging(more) { $1 }
    let output = Pipe()
    (process.standardOutput, process.standardError) = (output, output)
    try process.run()
    let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
    process.waitUntilExit()
    return (process.terminationStatus, text)
  }

  /// Lays out the files below a prefix.
  private func stage(_ prefix: String, _ kind: String) throws -> String {
    let script = Self.root.appending(path: ".packaging/stage").path
    let (status, text) = try run([script, ProcessesProgram.path, folder.path + "/root", prefix, kind])
    try #require(status == 0, "\(text)")
    return folder.path + "/root" + prefix
  }

  /// Copies the script that installs an archive into its folder.
  private func installer(in archive: String) throws -> String {
    let script = archive + "/install.sh"
    try ExecutableFile.copy(Self.root.appending(path: ".packaging/install.sh").path, to: script)
    return script
  }

  /// Returns the paths below a folder, sorted.
  private func paths(_ folder: String) -> [String] {
    (FileManager.default.enumerator(atPath: folder)?.compactMap { $0 as? String } ?? []).sorted()
  }

  @Test func `a Debian package has a page and a link for each name, and no path of the build`() throws {
    let root = try stage("/usr", "DEBIAN")
    let paths = Set(paths(root))
    for name in ["git-credential", "docker-credential", "cargo-credential"] {
      #expect(paths.contains("bin/\(name)-keytree") && paths.contains("share/man/man1/\(name)-keytree.1.gz"))
    }
    for path in [
      "bin/keytree-askpass", "bin/browserpass-keytree", "lib/keytree/keyring", "lib/keytree/security",
      "share/man/man1/keytree.1.gz", "share/man/man1/keytree-security.1.gz",
      "share/man/man1/keytree-add.1.gz", "share/man/man1/keytree-secret-service.1.gz",
      "share/bash-completion/completions/keytree", "share/zsh/vendor-completions/_keytree",
      "share/fish/vendor_completions.d/keytree.fish", "lib/systemd/user/keytree-secret-service.service",
    ] {
      #expect(paths.contains(path), "\(path)")
    }
    // gnome-keyring owns the name in the folder that the bus reads.
    #expect(!paths.contains { $0.hasPrefix("share/dbus-1") || $0 == "bin/keyring" || $0 == "bin/security" })
    func text(_ path: String) throws -> String {
      try String(contentsOfFile: "\(root)/\(path)", encoding: .utf8)
    }
    let unit = try text("lib/systemd/user/keytree-secret-service.service")
    #expect(unit.contains("ExecStart=\"/usr/bin/keytree\""))
    let activation = try text("share/keytree/dbus-1/services/org.freedesktop.secrets.service")
    #expect(activation.contains("\nExec=/usr/bin/keytree secret-service\n"))
    for browser in ["chrome", "chromium", "brave", "firefox"] {
      let hosts = "share/keytree/native-messaging-hosts"
      let manifest = try text("\(hosts)/\(browser)/com.github.browserpass.native.json")
      #expect(manifest.contains("\"/usr/bin/browserpass-keytree\""))
    }
  }

  @Test func `the archive is installed, upgraded and removed, and nothing is left`() throws {
    let archive = folder.path + "/archive"
    try FileManager.default.createDirectory(atPath: archive, withIntermediateDirectories: false)
    try FileManager.default.moveItem(
      atPath: try stage("/KEYTREE_PREFIX", "PLAIN"), toPath: archive + "/files")
    let script = try installer(in: archive)
    let prefix = folder.path + "/home/.local"
    try #require(try run(["sh", script, prefix]).status == 0)
    let installed = paths(prefix)
    // The default store is in ~/.local/share/keytree.
    #expect(!installed.contains { $0.hasPrefix("share/keytree") })
    #expect(try run([prefix + "/bin/keytree", "version"]).text.hasPrefix("keytree "))
    for (path, word) in [
      ("lib/keytree/dbus-1/services/org.freedesktop.secrets.service", "Exec=\(prefix)/bin/keytree "),
      ("share/systemd/user/keytree-secret-service.service", "\"\(prefix)/bin/keytree\""),
    ] {
      #expect(try String(contentsOfFile: "\(prefix)/\(path)", encoding: .utf8).contains(word))
    }
    // The umask of whoever unpacked the archive has no effect.
    try #require(unsafe chmod(archive + "/files/bin/keytree", 0o700) == 0)
    // A file of an older version is removed, and a file of the user stays.
    try ExecutableFile.write("old", to: prefix + "/bin/old-keytree")
    try ExecutableFile.write("mine", to: prefix + "/bin/mine")
    let list = prefix + "/lib/keytree/installed-files"
    try Data(try String(contentsOfFile: list, encoding: .utf8).appending("bin/old-keytree\n").utf8)
      .write(to: URL(fileURLWithPath: list))
    try #require(try run(["sh", script, prefix]).status == 0)
    #expect(paths(prefix) == (installed + ["bin/mine"]).sorted())
    let mode = try FileManager.default.attributesOfItem(atPath: prefix + "/bin/keytree")[.posixPermissions]
    #expect(mode as? Int == 0o755)
    try #require(try run(["sh", script, "--uninstall", prefix]).status == 0)
    #expect(paths(prefix) == ["bin", "bin/mine"])
    let refused = try run(["sh", script, "--uninstall", prefix])
    #expect(refused.status == 1 && refused.text.contains("nothing is installed"))
  }

  @Test func `the installer explains itself, and a mistyped option is no folder to install below`() throws {
    let archive = folder.path + "/archive"
    try FileManager.default.createDirectory(atPath: archive + "/files/bin", withIntermediateDirectories: true)
    try ExecutableFile.write("#!/bin/sh\necho keytree 1\n", to: archive + "/files/bin/keytree")
    let script = try installer(in: archive)
    for option in ["--help", "-h"] {
      let help = try run(["sh", script, option])
      #expect(help.status == 0 && help.text.contains("./install.sh --uninstall PREFIX"), "\(help.text)")
    }
    for words in [["--hlep"], ["-prefix"], ["--uninstall", "--help"]] {
      let refused = try run(["sh", script] + words)
      #expect(refused.status == 1 && refused.text.contains("PREFIX must not begin with -"), "\(refused.text)")
    }
    #expect(paths(archive) == ["files", "files/bin", "files/bin/keytree", "install.sh"])
  }

  @Test func `the archive replaces no file of another origin, and removes nothing outside its folder`() throws
  {
    let archive = folder.path + "/archive"
    try FileManager.default.createDirectory(atPath: archive + "/files/bin", withIntermediateDirectories: true)
    try ExecutableFile.write("#!/bin/sh\necho keytree 1\n", to: archive + "/files/bin/keytree")
    let script = try installer(in: archive)
    let (prefix, victim) = (folder.path + "/prefix", folder.path + "/victim")
    try FileManager.default.createDirectory(atPath: prefix + "/bin", withIntermediateDirectories: true)
    try ExecutableFile.write("mine", to: prefix + "/bin/keytree")
    let refused = try run(["sh", script, prefix])
    #expect(refused.status == 1 && refused.text.contains("has not installed it"))
    #expect(try String(contentsOfFile: prefix + "/bin/keytree", encoding: .utf8) == "mine")
    try FileManager.default.removeItem(atPath: prefix + "/bin/keytree")
    for word in ["", "/", "../x", folder.path + "/a b", folder.path + "/x|y", folder.path + "/../x"] {
      #expect(try run(["sh", script, word]).status == 1, "\(word)")
    }
    // For packagers: the files are elsewhere than the paths in them.
    try #require(try run(["sh", script, "/usr"], ["DESTDIR": folder.path + "/built"]).status == 0)
    #expect(FileManager.default.fileExists(atPath: folder.path + "/built/usr/bin/keytree"))
    try #require(try run(["sh", script, prefix]).status == 0)
    try Data("kept".utf8).write(to: URL(fileURLWithPath: victim))
    let list = prefix + "/lib/keytree/installed-files"
    for line in ["../victim", victim, "bin/../../victim"] {
      try Data("\(line)\n".utf8).write(to: URL(fileURLWithPath: list))
      #expect(try run(["sh", script, "--uninstall", prefix]).status == 1)
      #expect(FileManager.default.fileExists(atPath: victim), "\(line)")
    }
  }
}
