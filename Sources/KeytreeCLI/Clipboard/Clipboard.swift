internal import FileSystem
internal import Glibc
internal import Secrets
internal import Subprocess

/// The clipboard of the graphical session, reached by the programs that people have for it.
///
/// The rules, all kept here (threat T32):
/// - A secret goes to a program by its standard input alone, through a pipe, and comes back through one.
/// - Programs are looked for in absolute folders of `PATH`, and get at most a few seconds.
/// - What they write on standard output and error is thrown away: they go on running in the background, and must
///   not hold anything of the caller's.
/// - wl-copy itself keeps the content in a file below /tmp, in a folder that only this person can enter: nothing that
///   it can be told changes that.
/// - A program that can mark the content as sensitive does, so that clipboard managers keep no history of it.
struct Clipboard {
  /// A way to a clipboard.
  enum Way: String, CaseIterable {
    /// wl-copy and wl-paste of wl-clipboard.
    case wayland
    case xclip
    case xsel
    /// Windows around the Windows Subsystem for Linux: clip.exe, and PowerShell to look at it.
    case windows

    /// The programs that it takes.
    var programs: [String] {
      switch self {
      case .wayland: ["wl-copy", "wl-paste"]
      case .xclip: ["xclip"]
      case .xsel: ["xsel"]
      case .windows: ["clip.exe"]
      }
    }

    /// The variable that says which session it is.
    var variable: String {
      switch self {
      case .wayland: "WAYLAND_DISPLAY"
      case .xclip, .xsel: "DISPLAY"
      case .windows: "WSL_DISTRO_NAME"
      }
    }
  }

  /// The way that is used.
  let way: Way
  /// The session that it leads to, as its variable names it.
  let session: String
  private let environment: Environment

  /// What tells one session from another, for `ClipboardTurns`.
  var turnSession: String { "\(way.variable)=\(session)" }

  /// The bytes that a pipe takes without anybody reading; see `ClipboardPipe`.
  static let limit = ClipboardPipe.capacity
  private static let patience = Duration.seconds(5)

  /// Finds the clipboard of the session: Wayland's before that of X11, and Windows' last.
  ///
  /// - Throws: `noSession`; `noProgram`.
  init(_ environment: Environment) throws {
    let reachable = Way.allCases.filter { environment.text($0.variable) != nil }
    guard !reachable.isEmpty else { throw ClipboardError(.noSession, environment) }
    for way in reachable {
      guard let found = Clipboard(way, environment) else { continue }
      self = found
      return
    }
    // Only that there is no Windows program says nothing: the variable may have been left behind.
    throw ClipboardError(.noProgram(reachable), environment)
  }

  /// The clipboards of the session, each by the first way that works.
  static func all(_ environment: Environment) -> [Clipboard] {
    var sessions: Set<String> = []
    return Way.allCases.compactMap { way in
      guard let clipboard = Clipboard(way, environment) else { return nil }
      return sessions.insert(clipboard.turnSession).inserted ? clipboard : nil
    }
  }

  /// The clipboard by one way; nil when its session or its programs are not there.
  init?(_ way: Way, _ environment: Environment) {
    guard let session = environment.text(way.variable) else { return nil }
    for program in way.programs {
      guard ProgramSearch.path(of: program, in: environment.searchPath) != nil else { return nil }
    }
    (self.way, self.session, self.environment) = (way, session, environment)
  }

  /// Puts a secret into the clipboard, byte for byte.
  ///
  /// - Throws: `tooLong`; `notText`; `failed`; `timeout`.
  func copy(_ secret: borrowing SecretBytes) throws {
    guard secret.count <= Self.limit else { throw ClipboardError(.tooLong(limit: Self.limit), environment) }
    switch way {
    case .wayland:
      let mark = isMarkKnown() ? ["--sensitive"] : []
      try run("wl-copy", mark + ["--type", "text/plain"], input: secret)
    case .xclip: try run("xclip", ["-selection", "clipboard", "-in"], input: secret)
    case .xsel: try run("xsel", ["--clipboard", "--input"], input: secret)
    case .windows:
      guard let text = WindowsText.encoded(secret) else { throw ClipboardError(.notText, environment) }
      try run("clip.exe", [], input: text)
    }
  }

  /// What is in the clipboard; nil when that is no text, or cannot be told. Of what is longer than a secret can be, it is
  /// the beginning.
  func content() -> SecretBytes? {
    switch way {
    case .wayland: return read("wl-paste", ["--no-newline", "--type", "text/plain"])
    case .xclip: return read("xclip", ["-selection", "clipboard", "-out", "-target", "UTF8_STRING"])
    case .xsel: return read("xsel", ["--clipboard", "--output"])
    case .windows:
      let script =
        "[Console]::OutputEncoding=[Text.Encoding]::UTF8;[Console]::Out.Write((Get-Clipboard -Raw))"
      guard let text = read("powershell.exe", ["-NoProfile", "-NonInteractive", "-Command", script]) else {
        return nil
      }
      return WindowsText.withoutMark(text)
    }
  }

  /// Whether there is something in the clipboard that is surely no text, such as a picture.
  ///
  /// xclip and wl-paste end alike when there is no text and when they fail, so they are asked what there is.
  var hasNoText: Bool {
    let kinds: [UInt8]?
    switch way {
    case .wayland: kinds = list("wl-paste", ["--list-types"])
    case .xclip: kinds = list("xclip", ["-selection", "clipboard", "-out", "-target", "TARGETS"])
    case .xsel, .windows: kinds = nil
    }
    guard let kinds, !kinds.isEmpty else { return false }
    let words = String(decoding: kinds, as: UTF8.self).uppercased()
    return !["TEXT", "STRING"].contains { words.contains($0) }
  }

  /// Whether it can be told what is in the clipboard.
  var isReadable: Bool {
    way != .windows || ProgramSearch.path(of: "powershell.exe", in: environment.searchPath) != nil
  }

  /// Empties the clipboard.
  ///
  /// - Throws: `failed`; `timeout`.
  func clear() throws {
    let nothing = SecretBytes()
    switch way {
    case .wayland: try run("wl-copy", ["--clear"], input: nothing)
    case .xclip: try run("xclip", ["-selection", "clipboard", "-in"], input: nothing)
    case .xsel: try run("xsel", ["--clipboard", "--clear"], input: nothing)
    case .windows: try run("clip.exe", [], input: nothing)
    }
  }

  /// Whether wl-copy can mark a content as sensitive, which is new in version 2.3.
  private func isMarkKnown() -> Bool {
    let help = list("wl-copy", ["--help"]) ?? []
    return String(decoding: help, as: UTF8.self).contains("--sensitive")
  }

  /// What a program says that is no content of the clipboard; nil when it fails.
  private func list(_ name: String, _ arguments: [String]) -> [UInt8]? {
    guard var program = program(name, arguments) else { return nil }
    program.output = .collected(limit: 1 << 16)
    guard let outcome = try? program.run(), outcome.succeeded else { return nil }
    return outcome.output
  }

  /// A run of a program, with the variables of this process.
  private func program(_ name: String, _ arguments: [String]) -> ProgramRun? {
    guard let path = ProgramSearch.path(of: name, in: environment.searchPath) else { return nil }
    let variables = ProcessEnvironment(entries: environment.entries, locale: nil)
    var run = ProgramRun(path, arguments, environment: variables)
    run.folder = "/"
    run.output = .discarded
    run.errors = .discarded
    run.timeout = Self.patience
    return run
  }

  private func run(
    _ name: String, _ arguments: [String], input: borrowing SecretBytes
  ) throws {
    let failure = ClipboardError(.failed(program: name, session: sessionForMessages), environment)
    guard var run = program(name, arguments), let pipe = ClipboardPipe(holding: input) else { throw failure }
    run.input = .descriptor(pipe.readEnd)
    guard let outcome = try? run.run() else { throw failure }
    if outcome.stop == .timeout {
      throw ClipboardError(.timeout(program: name, session: sessionForMessages), environment)
    }
    guard outcome.succeeded else { throw failure }
  }

  private func read(_ name: String, _ arguments: [String]) -> SecretBytes? {
    guard var run = program(name, arguments), let pipe = ClipboardPipe() else { return nil }
    run.output = .descriptor(pipe.writeEnd)
    guard let outcome = try? run.run() else { return nil }
    guard !outcome.succeeded else { return pipe.content() }
    // More than the pipe takes keeps the program from ending.
    guard outcome.stop == .timeout, let beginning = pipe.content() else { return nil }
    guard beginning.count == ClipboardPipe.capacity else { return nil }
    return beginning
  }

  private var sessionForMessages: String? { way == .windows ? nil : session }
}
