public import Encoding

/// The reasons why a line of the index cannot be read, or a record cannot be written as a line.
public enum IndexLineError: Error, Hashable, Sendable {
  /// There is nothing on the line.
  case empty
  /// The text is longer than a line may be.
  case tooLong(limit: Int)
  /// The text is not JSON as the store allows it.
  case json(JSONError)
  /// Something that every item has is not there.
  case missing(AttributeName)
  /// A member has a value of the wrong type or form.
  case invalid(AttributeName)
  /// A known attribute stands among the custom ones.
  case misplaced(AttributeName)
  /// An attribute does not fit the item.
  case attribute(AttributeError)
}
