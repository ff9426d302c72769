import Arguments
import CommandSupport
import Foundation
import Glibc
import Personalities
import TestSupport
import Testing

@testable import KeytreeCLI
@testable import Terminal

@Suite("The setup of browsers", .serialized)
struct BrowserSetupTests {
  private let world: CommandFixture
  private let home: String
  private let programs: String

  init() throws {
    world = try .withoutGnuPG()
    home = world.folder.path + "/home"
    programs = world.folder.path + "/bin it's"
    for folder in [home, programs] {
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    }
    try ExecutableFile.write("#!/bin/sh\n", to: programs + "/keytree")
  }

  /// Runs a part of the setup, and returns its messages.
  private func with(
    _ more: [String: String] = [:], _ body: (BrowserSetup, CommandCall) throws -> Void
  ) throws -> (data: String, said: String) {
    let memory = MemoryConsole()
    let call = CommandCall(
      withoutOptionsIn: Environment(world.variables.merging(more) { $1 }), memory.console,
      engine: world.engine)
    try body(BrowserSetup(call, folder: programs, target: "keytree"), call)
    try memory.console.finish()
    return (memory.output.text, memory.talk.text)
  }

  private func places(_ names: String..., isSystem: Bool = false) -> [BrowserPlace] {
    names.compactMap { BrowserPlace(name: $0, isSystem: isSystem, Environment(world.variables)) }
  }

  private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }

  @Test("a manifest names the link next to the program and the published extensions")
  func install() throws {
    let said = try with { setup, _ in
      try setup.install(places("firefox", "chromium", "brave", "chrome"), allowing: [], replacing: false)
    }.said
    let firefox = home + "/.mozilla/native-messaging-hosts/com.github.browserpass.native.json"
    let link = programs + "/browserpass-keytree"
    #expect(
      try text(firefox)
        == #"{"allowed_extensions":["browserpass@maximbaz.com"],"description":"Keytree for Browserpass","#
        + #""name":"com.github.browserpass.native","path":"\#(link)","type":"stdio"}"# + "\n")
    #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link) == "keytree")
    let chromium = try text(
      home + "/.config/chromium/NativeMessagingHosts/com.github.browserpass.native.json")
    #expect(chromium.contains(#""allowed_origins":["chrome-extension://naepdomgkenhinolocfifgehidddafch/","#))
    for folder in ["google-chrome", "BraveSoftware/Brave-Browser"] {
      let path = "\(home)/.config/\(folder)/NativeMessagingHosts/com.github.browserpass.native.json"
      #expect(try text(path) == chromium)
    }
    let mode = try FileManager.default.attributesOfItem(atPath: firefox)[.posixPermissions] as? Int
    #expect(mode == 0o644)
    #expect(said.contains("Wrote \(firefox).") && said.contains("https://addons.mozilla.org/"))
    // A second time, and after the link exists.
    _ = try with { setup, _ in try setup.install(places("firefox"), allowing: [], replacing: false) }
    let list = try with { setup, _ in setup.list() }.data
    #expect(list.contains("Firefox\t\(firefox)\t\(link)\tbrowserpass@maximbaz.com\n"))
  }

  @Test("the manifest of another program is replaced only if the user wants that")
  func otherProgram() throws {
    let place = try #require(places("firefox").first)
    let other = #"{"name":"com.github.browserpass.native","path":"/usr/bin/other","allowed_extensions":[]}"#
    for content in [other, "not JSON"] {
      try FileManager.default.createDirectory(atPath: place.folder, withIntermediateDirectories: true)
      try content.write(toFile: place.manifest.path, atomically: false, encoding: .utf8)
      let error = #expect(throws: CommandError.self) {
        _ = try with { setup, _ in try setup.install([place], allowing: [], replacing: false) }
      }
      if case .other(let code, let message, _)? = error {
        #expect(code == .alreadyExists && message.contains(place.manifest.path))
      }
      #expect(try text(place.manifest.path) == content)
    }
    try other.write(toFile: place.manifest.path, atomically: false, encoding: .utf8)
    #expect(throws: CommandError.self) { _ = try with { setup, _ in try setup.uninstall([place]) } }
    _ = try with { setup, _ in try setup.install([place], allowing: [], replacing: true) }
    #expect(try text(place.manifest.path).contains("browserpass-keytree"))
  }

  @Test("uninstall removes what install has written")
  func uninstall() throws {
    _ = try with { setup, _ in
      try setup.install(places("firefox", "flatpak:org.mozilla.firefox"), allowing: [], replacing: false)
    }
    _ = try with { setup, _ in try setup.uninstall(places("firefox", "flatpak:org.mozilla.firefox")) }
    let left = FileManager.default.enumerator(atPath: home)?.allObjects as? [String] ?? []
    #expect(!left.contains { $0.hasSuffix(".json") || $0.hasSuffix("browserpass-keytree") })
    #expect(throws: CommandError.self) { _ = try with { setup, _ in try setup.uninstall(places("firefox")) } }
    // The machine may have manifests for all users.
    #expect(try with { setup, _ in setup.list() }.data.contains(home) == false)
  }

  @Test("an additional extension is allowed in the manifest of its browser and in the settings")
  func allow() throws {
    let chrome = "chrome-extension://aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/"
    _ = try with { setup, _ in
      try setup.install(
        places("firefox", "chromium"), allowing: [chrome, "own@example", chrome], replacing: false)
    }
    let (firefox, chromium) = (
      try text(places("firefox")[0].manifest.path), try text(places("chromium")[0].manifest.path)
    )
    #expect(firefox.contains(#"["browserpass@maximbaz.com","own@example"]"#))
    #expect(chromium.contains(chrome) && !chromium.contains("own@example"))
    #expect(world.run("config", "browser.origins").text == "\(chrome),own@example\n")
    let printed = try with { setup, _ in try setup.printManifest(places("chromium")[0]) }.data
    #expect(printed == chromium)
  }

  @Test("a Flatpak gets a script that leaves its sandbox, and the permission is only explained")
  func flatpak() throws {
    let said = try with { setup, _ in
      try setup.install(places("flatpak:org.chromium.Chromium"), allowing: [], replacing: false)
    }.said
    let sandbox = home + "/.var/app/org.chromium.Chromium"
    let script = sandbox + "/data/keytree/browserpass-keytree"
    let manifest = sandbox + "/config/chromium/NativeMessagingHosts/com.github.browserpass.native.json"
    #expect(try text(manifest).contains("\"path\":\"\(script)\""))
    let quoted = programs.replacingOccurrences(of: "'", with: "'\\''")
    #expect(
      try text(script) == "#!/bin/sh\nexec flatpak-spawn --host '\(quoted)/browserpass-keytree' \"$@\"\n")
    #expect(FileManager.default.isExecutableFile(atPath: script))
    #expect(
      said.contains("flatpak override --user --talk-name=org.freedesktop.Flatpak org.chromium.Chromium"))
    #expect(said.contains("Warning:"))
    #expect(places("flatpak:org.example.Unknown").isEmpty)
    #expect(places("flatpak:org.mozilla.firefox", isSystem: true).isEmpty)
  }

  @Test("the places for all users are those of the browsers")
  func system() {
    #expect(
      places("chrome", "chromium", "brave", "firefox", isSystem: true).map(\.folder) == [
        "/etc/opt/chrome/native-messaging-hosts", "/etc/chromium/native-messaging-hosts",
        "/etc/opt/chrome/native-messaging-hosts", "/usr/lib/mozilla/native-messaging-hosts",
      ])
  }

  @Test(
    "doctor reports a browser that starts another program, a missing link, and a pinentry without a window")
  func doctor() throws {
    let gnupg = home + "/gnupg"
    func diagnoses() throws -> [Diagnosis] {
      var list: [Diagnosis] = []
      _ = try with(["GNUPGHOME": gnupg]) { setup, call in
        list = BrowserExamination(call, nil).diagnoses(with: setup)
      }
      // This machine may have manifests for all users.
      return list.filter { $0.text.contains(world.folder.path) || !$0.text.contains(".json") }
    }
    #expect(try diagnoses().isEmpty)
    _ = try with { setup, _ in try setup.install(places("firefox"), allowing: [], replacing: false) }
    #expect(try diagnoses().first?.state == .ok)
    try FileManager.default.removeItem(atPath: programs + "/browserpass-keytree")
    #expect(try diagnoses().first?.state == .wrong)
    let chromium = places("chromium")[0]
    try FileManager.default.createDirectory(atPath: chromium.folder, withIntermediateDirectories: true)
    try #"{"path":"/usr/bin/other"}"#.write(
      toFile: chromium.manifest.path, atomically: false, encoding: .utf8)
    #expect(
      try diagnoses().contains {
        $0.state == .note && $0.text.contains("starts another program: /usr/bin/other")
      })
    try FileManager.default.createDirectory(atPath: home + "/snap/firefox", withIntermediateDirectories: true)
    #expect(try diagnoses().contains { $0.text.contains("snap") })
    try FileManager.default.createDirectory(atPath: gnupg, withIntermediateDirectories: true)
    let pinentry = world.folder.path + "/pinentry-curses"
    try "#!/bin/sh\n".write(toFile: pinentry, atomically: false, encoding: .utf8)
    try "pinentry-program \(pinentry)\n".write(
      toFile: gnupg + "/gpg-agent.conf", atomically: false, encoding: .utf8)
    #expect(try diagnoses().contains { $0.text.contains("pinentry-curses needs a terminal") })
    try "junk".write(toFile: chromium.manifest.path, atomically: false, encoding: .utf8)
    #expect(try diagnoses().contains { $0.state == .wrong && $0.text.contains("is not a manifest") })
  }

  @Test("a link that a sandbox has made is not followed")
  func sandboxLinks() throws {
    let place = try #require(places("flatpak:org.chromium.Chromium").first)
    let sandbox = try #require(place.sandbox)
    let victim = home + "/victim"
    try FileManager.default.createDirectory(
      atPath: sandbox + "/data/keytree", withIntermediateDirectories: true)
    try "mine".write(toFile: victim, atomically: false, encoding: .utf8)
    let script = sandbox + "/data/keytree/browserpass-keytree"
    try FileManager.default.createSymbolicLink(atPath: script, withDestinationPath: victim)
    _ = try with { setup, _ in try setup.install([place], allowing: [], replacing: false) }
    #expect(try text(victim) == "mine" && text(script).hasPrefix("#!/bin/sh"))
    // A folder of the sandbox that leads out of it.
    try FileManager.default.removeItem(atPath: sandbox + "/data")
    try FileManager.default.createDirectory(atPath: home + "/elsewhere", withIntermediateDirectories: true)
    try FileManager.default.createSymbolicLink(
      atPath: sandbox + "/data", withDestinationPath: home + "/elsewhere")
    #expect(throws: UserFileError.self) {
      _ = try with { setup, _ in try setup.install([place], allowing: [], replacing: false) }
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: home + "/elsewhere").isEmpty)
  }

  @Test("uninstall removes nothing behind a link that a sandbox has made")
  func sandboxUninstall() throws {
    let place = try #require(places("flatpak:org.chromium.Chromium").first)
    let sandbox = try #require(place.sandbox)
    _ = try with { setup, _ in try setup.install([place], allowing: [], replacing: false) }
    // The browser moves both folders out of the way, and shows links to folders of the user instead.
    for (name, file) in [("data/keytree", "browserpass-keytree"), ("config", nil)] as [(String, String?)] {
      let outside = home + "/outside-" + name.replacingOccurrences(of: "/", with: "-")
      try FileManager.default.moveItem(atPath: "\(sandbox)/\(name)", toPath: outside)
      try FileManager.default.createSymbolicLink(atPath: "\(sandbox)/\(name)", withDestinationPath: outside)
      #expect(throws: UserFileError.self) { _ = try with { setup, _ in try setup.uninstall([place]) } }
      if let file { #expect(FileManager.default.fileExists(atPath: "\(outside)/\(file)")) }
    }
    let left = home + "/outside-config/chromium/NativeMessagingHosts/\(BrowserPlace.file)"
    #expect(FileManager.default.fileExists(atPath: left))
    // Such a manifest is listed without the program behind the link, and not replaced.
    let list = try with { setup, _ in setup.list() }.data
    #expect(list.contains(place.manifest.path) && !list.contains("browserpass-keytree"))
    #expect(throws: UserFileError.self) {
      _ = try with { setup, _ in try setup.install([place], allowing: [], replacing: true) }
    }
  }

  @Test("a pipe in the place of a manifest is not waited for", .timeLimit(.minutes(1)))
  func pipes() throws {
    for place in places("firefox", "flatpak:org.mozilla.firefox") {
      try FileManager.default.createDirectory(atPath: place.folder, withIntermediateDirectories: true)
      #expect(unsafe mkfifo(place.manifest.path, 0o600) == 0)
      let list = try with { setup, _ in setup.list() }.data
      #expect(list.contains("\(place.manifest.path)\t\t\n"))
      _ = try with { setup, call in
        _ = try setup.install(places("chromium"), allowing: [], replacing: true)
        let diagnoses = BrowserExamination(call, nil).diagnoses(with: setup)
        #expect(diagnoses.contains { $0.text.contains("\(place.manifest.path) is not a manifest") })
      }
      #expect(throws: CommandError.self) {
        _ = try with { setup, _ in try setup.install([place], allowing: [], replacing: false) }
      }
      _ = try with { setup, _ in try setup.install([place], allowing: [], replacing: true) }
      #expect(try text(place.manifest.path).contains("browserpass"))
    }
  }
}
