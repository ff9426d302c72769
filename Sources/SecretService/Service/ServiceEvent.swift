/// A signal to send.
package enum ServiceEvent: Equatable, Sendable {
  /// `CollectionCreated`, from the service.
  case collectionCreated(ObjectPath)
  /// `CollectionDeleted`, from the service.
  case collectionDeleted(ObjectPath)
  /// `CollectionChanged`, from the service.
  case collectionChanged(ObjectPath)
  /// `ItemCreated`, from the collection.
  case itemCreated(ObjectPath, collection: ObjectPath)
  /// `ItemChanged`, from the collection.
  case itemChanged(ObjectPath, collection: ObjectPath)
  /// `ItemDeleted`, from the collection.
  case itemDeleted(ObjectPath, collection: ObjectPath)
  /// `PropertiesChanged` for `org.freedesktop.Secret.Service`.
  case serviceProperties([ChangedProperty])
  /// `PropertiesChanged` for `org.freedesktop.Secret.Collection`.
  case collectionProperties(ObjectPath, [ChangedProperty])
  /// `PropertiesChanged` for `org.freedesktop.Secret.Item`.
  case itemProperties(ObjectPath, [ChangedProperty])
  /// `Completed`, from the prompt, to one sender.
  case promptCompleted(ObjectPath, to: Sender, isDismissed: Bool, PromptResult)
}

/// A property and its new value.
package enum ChangedProperty: Equatable, Sendable {
  /// `Collections`.
  case collections([ObjectPath])
  /// `Items`.
  case items([ObjectPath])
  /// `Label`.
  case label(String)
  /// `Locked`.
  case locked(Bool)
  /// `Modified`, in seconds since 1970.
  case modified(UInt64)
  /// `Attributes`.
  case attributes(ServiceAttributes)
}

/// The result of a prompt. A dismissed prompt has an empty result of the same type.
package enum PromptResult: Equatable, Sendable {
  /// The unlocked objects, `ao`.
  case paths([ObjectPath])
  /// The new collection, `o`.
  case path(ObjectPath)
  /// Nothing: the empty string, `s`.
  case nothing
}
