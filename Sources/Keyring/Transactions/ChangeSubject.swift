internal import KeyringModel

/// The commit subject of a transaction: a verb and the paths of items. It contains nothing that is not in the index,
/// and does not mention items that never leave this machine.
struct ChangeSubject {
  /// The change of one item.
  private struct Step: Equatable {
    let old: ItemPath?
    let new: ItemPath?
  }

  private var steps: [Step] = []

  /// Records the change of an item.
  ///
  /// - Parameters:
  ///   - old: The old version; nil for a new item.
  ///   - new: The new version; nil for a removed item.
  mutating func note(_ old: ItemRecord?, _ new: ItemRecord?) {
    let paths = [old, new].map { record in record.flatMap { $0.isLocal ? nil : $0.path } }
    if paths[0] != nil || paths[1] != nil { steps.append(Step(old: paths[0], new: paths[1])) }
  }

  /// The description of all recorded changes.
  var text: String {
    guard let first = steps.first else { return "change local items" }
    if steps.count == 1, let text = Self.text(first) { return text }
    let verbs = Set(steps.map(Self.verb))
    return "\(verbs.count == 1 ? verbs.first ?? "change" : "change") \(steps.count) items"
  }

  private static func verb(_ step: Step) -> String {
    switch (step.old, step.new) {
    case (nil, _): "add"
    case (_, nil): "remove"
    case (let old, let new): old == new ? "change" : "rename"
    }
  }

  private static func text(_ step: Step) -> String? {
    switch (step.old, step.new) {
    case (nil, nil): nil
    case (let old?, let new?) where old != new: "rename \(old.text) to \(new.text)"
    case (let path?, _), (nil, let path?): "\(verb(step)) \(path.text)"
    }
  }
}
