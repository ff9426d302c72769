internal import Arguments
internal import CommandSupport
internal import Keyring
internal import KeyringModel
internal import Terminal

/// The other members who can read what an adoption stores.
struct AdoptionReaders {
  let call: CommandCall
  let policy: Policy
  /// The fingerprint of this user.
  let me: Fingerprint
  /// The group of new logins that the user has given; nil for `default`.
  let group: String?

  /// The number of readers that are named.
  private static let namedLimit = 10

  /// Returns the other members of the group of a file as text; nil if this user is the only one.
  private func names(_ entry: ForeignFileEntry) -> String? {
    let group = entry.file.item?.group ?? group ?? GroupName.default
    let others = (policy.groups[group] ?? []).filter { $0 != me }
    if others.isEmpty { return nil }
    let names = others.prefix(Self.namedLimit).map { ErrorReport.quoteCompact(policy.name(of: $0)) }
    let rest = others.count - names.count
    return names.joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
  }

  /// Names the other readers before a question.
  func show(_ entry: ForeignFileEntry) {
    if let names = names(entry) { call.console.complain("\(names) will be able to read \(entry.name).") }
  }

  /// Returns the refusal of a file that other members would be able to read, unless `--widen` allows it.
  func refusal(of entry: ForeignFileEntry) -> AdoptionRefusal? {
    guard !call.arguments.has(Widening.option), let names = names(entry) else { return nil }
    return AdoptionRefusal(
      entry, as: "widens", "\(names) would be able to read it (`--widen` allows it)", .cancelled)
  }
}
