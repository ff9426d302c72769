internal import KeyringModel

/// What a transaction did, in the words of the history: a verb and paths of items, nothing that the index does not
/// say as well. Items that stay on this machine are not spoken of.
struct ChangeSubject {
  /// What became of one item.
  private struct Step: Equatable {
    let old: ItemPath?
    let new: ItemPath?
  }

  private var steps: [Step] = []

  /// Notes what became of an item.
  ///
  /// - Parameters:
  ///   - old: The item as it was; nil for a new one.
  ///   - new: The item as it is; nil for one that is gone.
  mutating func note(_ old: ItemRecord?, _ new: ItemRecord?) {
    let paths = [old, new].map { record in record.flatMap { $0.isLocal ? nil : $0.path } }
    if paths[0] != nil || paths[1] != nil { steps.append(Step(old: paths[0], new: paths[1])) }
  }

  /// The words for all that was noted.
  var text: String {
    guard let first = steps.first else { return "change items of one machine" }
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
