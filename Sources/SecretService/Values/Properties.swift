/// The properties of a collection, without its items.
package struct CollectionProperties: Sendable, Equatable {
  /// The label.
  package let label: String
  /// True if the collection is locked.
  package let isLocked: Bool
  /// The time of the first item, in seconds since 1970.
  package let created: UInt64
  /// The time of the last change, in seconds since 1970.
  package let modified: UInt64
}

/// The properties of an item.
package struct ItemProperties: Sendable, Equatable {
  /// The label.
  package let label: String
  /// The attributes.
  package let attributes: ServiceAttributes
  /// True if the item's collection is locked.
  package let isLocked: Bool
  /// The time of creation, in seconds since 1970.
  package let created: UInt64
  /// The time of the last change, in seconds since 1970.
  package let modified: UInt64
}

/// The properties of an item to create.
package struct NewItemProperties: Sendable {
  /// The label; empty if the client gave none.
  package let label: String
  /// The attributes; empty if the client gave none.
  package let attributes: ServiceAttributes
  /// The schema as old clients give it, in the property `Type`; nil if there is none.
  package let type: String?

  /// Creates properties.
  package init(label: String = "", attributes: ServiceAttributes = ServiceAttributes(), type: String? = nil) {
    self.label = label
    self.attributes = attributes
    self.type = type
  }
}

/// The matches of a search. Items that others can have added come after those of the user alone.
package struct FoundItems: Sendable, Equatable {
  /// The items of collections that are not locked.
  package let unlocked: [ObjectPath]
  /// The items of locked collections, and the items that others can have added and that come after one of these.
  package let locked: [ObjectPath]
}

/// The result of locking or unlocking.
package struct LockResult: Sendable, Equatable {
  /// The objects that were locked or unlocked at once, as the client gave them.
  package let paths: [ObjectPath]
  /// The prompt for the other objects, or ``ObjectPath/none``.
  package let prompt: ObjectPath
}

/// The algorithm's input of `OpenSession`: the content of the variant.
package enum SessionInput: Sendable {
  /// A variant of type `s`.
  case text
  /// A variant of type `ay`.
  case bytes([UInt8])
  /// A variant of another type.
  case other
}

/// The algorithm's output of `OpenSession`: the content of the variant.
package enum SessionOutput: Sendable, Equatable {
  /// A variant of type `s` with the empty string.
  case text
  /// A variant of type `ay`.
  case bytes([UInt8])
}
