internal import Keyring
internal import KeyringModel

/// Methods for items that differ from others only in their group.
extension CommandCall {
  /// Throws an error if an item with the same name exists in another group and no group was given. A second item would
  /// be stored without notice, possibly for more readers, instead of the new secret of the first one.
  ///
  /// - Parameters:
  ///   - item: the item to store, in the default group.
  ///   - existing: the item with this name in the default group, if it exists.
  ///   - mayReplace: true if the secret of an existing item may be replaced.
  ///   - keyring: the keyring to search.
  /// - Throws: `other` with `alreadyExists`, or with `ambiguous` if the secret of either item may be replaced;
  ///   `KeyringError`, also if another person has removed or hidden an item of another group.
  func refuseOtherGroups(
    _ item: NewItem, existing: ItemRecord?, mayReplace: Bool, in keyring: Keyring
  ) throws {
    // The existing item is reported by the caller.
    if existing != nil, !mayReplace { return }
    let groups = try groups(ofItemsLike: item, in: keyring.index).filter { $0 != item.group }
    guard let group = groups.first else {
      return try keyring.requireNothingElsewhere(for: item, replacing: existing)
    }
    let path = try item.path().text
    let others =
      (groups.count == 1 ? "group " : "groups ") + groups.map(ErrorReport.quote).joined(separator: ", ")
    let change = groups.map { "`-g \($0)`" }.joined(separator: " or ")
    guard mayReplace else {
      throw CommandError.other(
        .alreadyExists, message: "cannot store \(path): it already exists in \(others)",
        hint:
          "`--update -g \(group)` replaces its secret; `-g \(item.group)` adds another item, which the members of "
          + "group \(ErrorReport.quote(item.group)) can read")
    }
    let action = existing == nil ? "adds another item for" : "replaces the secret of the item in"
    throw CommandError.other(
      .ambiguous,
      message: existing == nil
        ? "cannot store \(path): it exists in \(others), and no group was given"
        : "cannot store \(path): it exists in group \(ErrorReport.quote(item.group)) and in \(others)",
      hint: "\(change) replaces the secret there; `-g \(item.group)` \(action) group "
        + ErrorReport.quote(item.group))
  }

  /// Returns the groups of the items that have the name of an item, sorted.
  private func groups(ofItemsLike item: NewItem, in index: Index) throws -> [String] {
    let key = PrimaryKey(itemClass: item.itemClass, attributes: item.attributes, group: "")
    let matches = try index.find(ItemsWithName.query(like: key))
    explain(matches.statistics)
    return ItemsWithName(matches.items).groups(ofItemsLike: key)
  }
}
