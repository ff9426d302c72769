internal import Arguments
internal import CSystem
internal import CommandSupport
internal import Secrets
internal import Terminal

/// `keytree clear-clipboard`: the background process that `--clip` starts to clear the clipboard after a delay.
///
/// It does not know the secret: it reads a salted digest from standard input. It has no terminal and keeps nothing open
/// of the process that used `--clip`. Without operands it immediately clears clipboards that such a process did not
/// clear because it was killed.
enum ClearClipboardCommand: Command {
  static let declaration = CommandDeclaration(
    name: ClipboardTarget.clearCommand, summary: "clear the clipboard after a delay",
    details: [
      "Without operands, it clears the clipboard immediately if a secret that `--clip` copied there was not cleared.",
      "With operands, it is only for `--clip`, which starts it. Standard input identifies the secret to clear.",
    ],
    operands: [
      OperandDeclaration(
        "WAY", .choice(Clipboard.Way.allCases.map(\.rawValue)), count: .optional, help: "the programs to use"),
      OperandDeclaration("N", .integer(1...86_400), count: .optional, help: "the number of seconds to wait"),
    ],
    examples: [
      Example(
        "keytree clear-clipboard xclip 45", "waits, then clears the secret that standard input identifies")
    ],
    isHidden: true)

  static func run(_ call: CommandCall) throws -> ExitCode {
    if call.arguments.operands.isEmpty { return try clearNow(call) }
    guard let way = call.arguments.operand(0)?.text.flatMap(Clipboard.Way.init),
      let seconds = call.arguments.operand(1)?.text.flatMap({ Int($0) }),
      let clipboard = Clipboard(way, call.environment), let base = call.environment.runtimeBase
    else { return .failure }
    let input = try call.console.readAll(limit: 1024)
    guard let mark = ClipboardMark(unsafe input.withBytes { unsafe String(decoding: $0, as: UTF8.self) })
    else {
      throw call.misuse(.other("only `--clip` runs this command with operands"))
    }
    guard keytree_detach() == 0 else { return .failure }
    keytree_sleep(seconds)
    let turns = try ClipboardTurns(session: clipboard.turnSession, in: base)
    guard turns.isLast(mark) else { return .done }
    // If it cannot be cleared, `doctor` reports it.
    if holds(mark, clipboard), (try? clipboard.clear()) == nil { return .failure }
    try turns.finish(mark)
    return .done
  }

  /// Clears every clipboard of the session that may still contain a secret.
  private static func clearNow(_ call: CommandCall) throws -> ExitCode {
    var isCleared = false
    for clipboard in Clipboard.all(call.environment) {
      guard let base = call.environment.runtimeBase else { break }
      let turns = try ClipboardTurns(session: clipboard.turnSession, in: base)
      guard turns.isOpen else { continue }
      try clipboard.clear()
      try turns.finishAll()
      isCleared = true
    }
    call.console.say(isCleared ? "Cleared the clipboard." : "The clipboard contains no secret of keytree.")
    return .done
  }

  /// The number of attempts to read the clipboard, one second apart.
  private static let looks = 3

  /// Returns true if the secret is still in the clipboard, or if that cannot be determined.
  ///
  /// Reading fails while the program that owns the content is busy, and a locked screen may prevent it.
  private static func holds(_ mark: ClipboardMark, _ clipboard: Clipboard) -> Bool {
    guard clipboard.isReadable else { return true }
    for look in 1...looks {
      if let content = clipboard.content() { return mark.matches(content) }
      if clipboard.hasNoText { return false }
      if look < looks { keytree_sleep(1) }
    }
    return true
  }
}
