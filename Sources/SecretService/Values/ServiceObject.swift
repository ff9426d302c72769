package import KeyringModel

/// A collection: the items of one group, or those that the service keeps in memory.
package enum CollectionID: Hashable, Sendable {
  /// The collection `session`, which exists in memory only.
  case session
  /// The items of a group of the keyring.
  case group(String)
}

/// The collection and the id of an item.
package struct ItemAddress: Hashable, Sendable {
  /// The collection.
  package let collection: CollectionID
  /// The id, which never changes.
  package let id: ItemID

  /// Creates an address.
  ///
  /// - Parameters:
  ///   - collection: The collection.
  ///   - id: The id of the item.
  package init(_ collection: CollectionID, _ id: ItemID) { (self.collection, self.id) = (collection, id) }
}

/// The type that ``SessionID`` identifies: a session of a client.
package enum ClientSession {}

/// The type that ``PromptID`` identifies: a prompt of a client.
package enum ClientPrompt {}

/// The id of a session, generated when it is opened.
package typealias SessionID = Identifier<ClientSession>

/// The id of a prompt, generated when it is created.
package typealias PromptID = Identifier<ClientPrompt>

/// An object that a path names. Aliases are already replaced by their collections.
package enum ServiceObject: Hashable, Sendable {
  /// The service itself.
  case service
  /// A collection.
  case collection(CollectionID)
  /// An item.
  case item(ItemAddress)
  /// A session.
  case session(SessionID)
  /// A prompt.
  case prompt(PromptID)
}
