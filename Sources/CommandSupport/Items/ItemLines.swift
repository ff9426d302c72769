package import KeyringModel
internal import Terminal

extension ItemRecord {
  /// The name that a user types for the item: `container/account` or `container`. Names are not escaped.
  package var shortName: [UInt8] {
    let container = self.container?.shownBytes ?? []
    guard let account = accountValue?.shownBytes, !account.isEmpty else { return container }
    return container + [UInt8(ascii: "/")] + account
  }

  /// The reference and, if it is not the default group, the group, for messages.
  package var referenceWithGroup: String {
    group == GroupName.default ? reference.text : "\(reference.text) (group \(group))"
  }

  /// A line that shows the item in a list: its class unless it is an internet password, its name, the port and the
  /// group unless they are the defaults, and its label.
  package var listLine: String { listLine(details: []) }

  /// A line that also tells the item from others with the same name, port, group and label.
  fileprivate var fullListLine: String {
    listLine(details: [.protocol, .path, .securityDomain, .authenticationType])
  }

  private func listLine(details names: [AttributeName]) -> String {
    var line = Self.visible(shortName)
    if itemClass != .internetPassword { line = "\(itemClass.rawValue):\(line)" }
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
  private static func visible(_ bytes: [UInt8]) -> String {
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
  /// Returns the line of each item. Items whose short lines are equal get further attributes and, if these are equal as
  /// well, digits of their ids. The lines are not escaped.
  package static func of(_ items: [ItemRecord]) -> [String] {
    var lines = items.map(\.listLine)
    for repair in [\ItemRecord.fullListLine, \.listLineWithID] {
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
