package import KeyringModel
internal import Terminal

extension ItemRecord {
  /// The name that a user types for the item: `container/account` or `container`. Names are not escaped.
  package var shortName: [UInt8] {
    let container = self.container?.shownBytes ?? []
    guard let account = accountValue?.shownBytes, !account.isEmpty else { return container }
    return container + [UInt8(ascii: "/")] + account
  }

  /// The same with the port of a host: `git.example:8443/alice`.
  func shortName(port: Int64) -> [UInt8] {
    let container = self.container?.shownBytes ?? []
    return container + Array(":\(port)".utf8) + shortName.dropFirst(container.count)
  }

  /// A line that shows the item in a list: its name, the port and the group unless they are the defaults, and its label.
  package var listLine: String { listLine(details: []) }

  /// A line that also tells the item from others with the same name, port, group and label.
  fileprivate var fullListLine: String {
    listLine(hasClass: true, details: [.protocol, .path, .securityDomain, .authenticationType])
  }

  /// A line that tells the item from one of another class.
  fileprivate var listLineWithClass: String { listLine(hasClass: true, details: []) }

  private func listLine(hasClass: Bool = false, details names: [AttributeName]) -> String {
    var line = Self.visible(shortName)
    if hasClass { line = "\(itemClass.word):\(line)" }
    if let field { line += " --field \(field)" }
    var details = names.compactMap { name in
      attributes[name].map { "\(name.text) \(Self.visible($0.shownBytes))" }
    }
    if case .integer(let port)? = attributes[.port], port != 0 { details.append("port \(port)") }
    if group != GroupName.default { details.append("group \(group)") }
    if !details.isEmpty { line += "  (\(details.joined(separator: ", ")))" }
    if let label = attributes[.label]?.shownBytes, label != container?.shownBytes {
      line += "  " + Self.withSingleBlanks(label)
    }
    return line
  }

  /// Returns a name in quotation marks if it begins or ends with a blank or contains several in a row, which a reader
  /// would not notice or which would move the rest of the line out of sight.
  static func visible(_ bytes: [UInt8]) -> String {
    let text = String(decoding: bytes, as: UTF8.self)
    let words = text.split(separator: " ", omittingEmptySubsequences: false)
    return words.count > 1 && words.contains("") ? "\"\(text)\"" : text
  }

  private static func withSingleBlanks(_ bytes: [UInt8]) -> String {
    String(decoding: bytes, as: UTF8.self).split(separator: " ").joined(separator: " ")
  }
}

/// The lines of a list of items. No two are equal.
package enum ItemLines {
  /// Returns the line of each item. Items whose short lines are equal get their class, then further attributes and, if these
  /// are equal as well, digits of their ids. The lines are not escaped.
  package static func of(_ items: [ItemRecord]) -> [String] {
    var lines = items.map(\.listLine)
    for repair in [\ItemRecord.listLineWithClass, \.fullListLine, \.listLineWithID] {
      let counts = Dictionary(lines.map { (Escaping.terminal.show($0), 1) }, uniquingKeysWith: +)
      for index in items.indices where counts[Escaping.terminal.show(lines[index])] ?? 0 > 1 {
        lines[index] = items[index][keyPath: repair]
      }
    }
    return lines
  }
}

extension ItemRecord {
  fileprivate var listLineWithID: String { "\(fullListLine)  #\(id.hex.prefix(8))" }
}
