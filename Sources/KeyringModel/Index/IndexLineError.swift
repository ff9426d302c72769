public import Encoding

/// The reasons why a line of the index cannot be read, or a record cannot be written as a line.
public enum IndexLineError: Error, Hashable, Sendable {
  /// The line is empty.
  case empty
  /// The line is longer than the limit.
  case tooLong(limit: Int)
  /// The line is not JSON in the strict form that the store accepts.
  case json(JSONError)
  /// A member that every item has is missing.
  case missing(AttributeName)
  /// A member has a value of the wrong type or form.
  case invalid(AttributeName)
  /// A known attribute is among the custom attributes.
  case misplaced(AttributeName)
  /// An attribute is not valid for the item.
  case attribute(AttributeError)
}
