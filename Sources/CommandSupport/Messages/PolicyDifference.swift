package import KeyringModel
internal import OpenPGP

/// The changes from one policy to another: lines that begin with `+`, `-` or `~`.
package struct PolicyDifference {
  /// The lines, escaped; empty if no change is relevant to the user.
  package let lines: [String]

  package init(from old: Policy, to new: Policy) {
    var lines: [String] = []
    for fingerprint in Set(old.people.keys).union(new.people.keys).sorted() {
      switch (old.people[fingerprint], new.people[fingerprint]) {
      case (nil, let person?): lines.append("+ " + person.line(fingerprint))
      case (let person?, nil): lines.append("- " + person.line(fingerprint))
      case (let before?, let after?) where before != after:
        let words = [before.line(fingerprint), after.line(fingerprint)]
        if words[0] != words[1] { lines += ["- " + words[0], "+ " + words[1]] }
        if before.key != after.key, before.key != nil {
          lines.append("~ different key file of \(new.name(of: fingerprint)) (\(fingerprint.text))")
        }
        lines += Self.subkeys(from: before, to: after).map {
          "\($0) of \(new.name(of: fingerprint)) (\(fingerprint.text))"
        }
      default: break
      }
    }
    for group in Set(old.groups.keys).union(new.groups.keys).sorted() {
      guard let after = new.groups[group] else {
        lines.append("- group \(group)")
        continue
      }
      guard let before = old.groups[group] else {
        lines.append("+ group \(group): \(after.map { new.name(of: $0) }.joined(separator: ", "))")
        continue
      }
      for fingerprint in after where !before.contains(fingerprint) {
        lines.append("+ \(new.name(of: fingerprint)) can read group \(group) (\(fingerprint.text))")
      }
      for fingerprint in before where !after.contains(fingerprint) {
        lines.append("- \(old.name(of: fingerprint)) can read group \(group) (\(fingerprint.text))")
      }
    }
    for file in new.files.union(old.files).sorted()
    where !old.files.contains(file) || !new.files.contains(file) {
      lines.append("\(new.files.contains(file) ? "+" : "-") file \(file)")
    }
    for (item, risk) in new.accepted.sorted(by: { $0.key.hex < $1.key.hex }) where old.accepted[item] != risk
    {
      lines.append("~ accepted the risk for the secret of item #\(item.hex.prefix(8)): \(risk.reason)")
    }
    self.lines = lines
  }

  /// Returns the changes of the subkeys that items are encrypted to, each as the start of a line.
  private static func subkeys(from old: Person, to new: Person) -> [String] {
    let (before, after) = (Set(old.encryptTo), Set(new.encryptTo))
    return after.subtracting(before).sorted().map { "+ items are encrypted to subkey \(KeyID(of: $0).text)" }
      + before.subtracting(after).sorted().map { "- items are encrypted to subkey \(KeyID(of: $0).text)" }
  }
}
