internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import OpenPGP
internal import Terminal

/// `keytree textconv`: the text that git shows for a store's files. It does not decrypt, starts no process, and never
/// fails because of the content of a file.
enum TextconvCommand: Command {
  static let kind = OperandDeclaration(
    "KIND", .choice(["index", "item", "record"]), help: "index, item or record")

  static let declaration = CommandDeclaration(
    name: "textconv", summary: "show a file of a store as text, for git",
    operands: [kind, OperandDeclaration("FILE", .text, completion: .file, help: "the file")],
    examples: [Example("keytree textconv index FILE", "one block of lines for each item")],
    isHidden: true)

  static func run(_ call: CommandCall) throws -> ExitCode {
    guard let file = call.arguments.operand(1)?.text else { throw call.misuse(.missingOperand("FILE")) }
    let kind = call.arguments.operand(0)?.text
    let limit = kind == "index" ? StoreLayout.shardLimit : StoreLayout.sealedItemLimit
    let bytes: [UInt8]
    do {
      let content = try UserFile.read(file, limit: limit)
      bytes = unsafe content.withBytes { unsafe Array($0) }
    } catch let error as UserFileError {
      call.console.print("unreadable: \(ErrorReport.systemMessage(error.errno))")
      return .done
    }
    let lines =
      switch kind {
      case "index": ShownFile.index(bytes)
      case "record": ShownFile.record(bytes)
      default: [ShownFile.item(bytes)]
      }
    for line in lines { call.console.print(line) }
    return .done
  }
}

/// The files of a store in a form that people can compare.
enum ShownFile {
  /// Returns the lines for a shard: the path of each item, followed by its facts, sorted.
  static func index(_ bytes: [UInt8]) -> [String] {
    Shard(parsing: bytes, number: 0).lines.flatMap { line -> [String] in
      guard let record = line.record else {
        return ["unreadable line: \(Escaping.terminal.show(line.bytes))"]
      }
      let facts = RecordMembers.of(record).flatMap { member -> [String] in
        guard member.name == "custom", case .object(let members) = member.value else { return [fact(member)] }
        return members.map(fact)
      }
      return [Escaping.terminal.show(record.path.text)] + facts.sorted().map { "  \($0)" }
    }
  }

  /// Returns the lines for a record: the facts in its index line, and the time of its signature.
  static func record(_ bytes: [UInt8]) -> [String] {
    let line = Array(bytes.prefix { $0 != UInt8(ascii: "\n") })
    // `check` reports the reason for a missing proof.
    let signed = (try? RecordFile(parsing: bytes))?.statement?.time
    return index(line) + ["  signed: \(signed?.rfc3339 ?? "not readable")"]
  }

  private static func fact(_ member: JSONMember) -> String {
    let value: String
    if case .string(let text) = member.value {
      value = text
    } else {
      value = String(decoding: member.value.canonicalBytes, as: UTF8.self)
    }
    return "\(Escaping.terminal.show(member.name)): \(Escaping.terminal.show(value))"
  }

  /// Returns the line for an encrypted file: its size, and the keys that can decrypt it.
  static func item(_ bytes: [UInt8]) -> String {
    do throws(MessageError) {
      let header = unsafe try bytes.span.withUnsafeBytes { bytes throws(MessageError) in
        unsafe try MessageHeader.parse(bytes, limit: StoreLayout.sealedItemLimit)
      }
      let keys = header.recipients.map(\.text).joined(separator: " ")
      return "encrypted file, \(bytes.count) bytes, for \(keys)"
    } catch {
      return "not an encrypted file, \(bytes.count) bytes: \(error.message)"
    }
  }
}
