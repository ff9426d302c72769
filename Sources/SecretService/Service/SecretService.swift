package import Keyring

/// The rules of the Secret Service API over a store, without a bus.
///
/// One thread owns a service and makes all calls. No call decrypts, signs, or waits for GnuPG: it returns ``Work`` for
/// another thread instead. After every call and every ``finish(_:)``, the owner sends the signals of ``takeEvents()``
/// before the reply.
package final class SecretService {
  package init(
    options: ServiceOptions, opening: @escaping @Sendable () throws -> Keyring, agent: (any KeyAgent)? = nil
  ) throws {}

  // MARK: The owner

  /// Finds the object that has a path.
  ///
  /// - Parameters:
  ///   - path: The path of a call. An alias stands for its collection.
  ///   - sender: The caller.
  /// - Throws: `noSuchObject`; `noSession` for a session of another sender.
  package func object(at path: ObjectPath, for sender: Sender) throws -> ServiceObject { throw todo }

  /// Completes finished work: updates what the service knows, and queues the signals.
  ///
  /// - Parameter outcome: The result of `Work.run()`.
  /// - Returns: The value for the reply.
  /// - Throws: ``SecretServiceError`` for the reply.
  package func finish<Value>(_ outcome: Outcome<Value>) throws -> Value { throw todo }

  /// Returns the signals that are due now, in the order in which they must be sent.
  package func takeEvents() -> [ServiceEvent] { [] }

  /// The time on the clock of the options at which ``takeEvents()`` must be called again; nil if no signal waits.
  package var nextEventTime: Duration? { nil }

  /// Ends the sessions and prompts of a sender that has left the bus.
  package func senderVanished(_ sender: Sender) {}

  /// Compares the store with what the service knows, and queues the signals for the changes of other processes. Called
  /// when files of the store have changed.
  package func storeChanged() {}

  /// The folders of the store and of this machine whose files the owner watches for changes.
  package var watchedFolders: [String] { [] }

  // MARK: Sessions

  /// `OpenSession`.
  ///
  /// - Throws: `notSupported` for an unknown algorithm, `invalidArguments`, `limitsExceeded`.
  package func openSession(
    _ algorithm: String, _ input: SessionInput, for sender: Sender
  ) throws -> (output: SessionOutput, session: ObjectPath) { throw todo }

  /// `Session.Close`.
  package func close(_ session: SessionID, for sender: Sender) throws {}

  // MARK: Collections

  /// The property `Collections`.
  package var collections: [ObjectPath] { [] }

  /// `CreateCollection`.
  ///
  /// - Parameters:
  ///   - label: The property `Label`; nil if it was not given.
  ///   - alias: The alias, or the empty string.
  package func createCollection(
    label: String?, alias: String, for sender: Sender
  ) throws -> (collection: ObjectPath, prompt: ObjectPath) { throw todo }

  /// `Collection.Delete`. Returns the prompt.
  package func delete(_ collection: CollectionID, for sender: Sender) throws -> ObjectPath { throw todo }

  /// `ReadAlias`.
  package func readAlias(_ alias: String) -> ObjectPath { .none }

  /// `SetAlias`.
  package func setAlias(_ alias: String, to collection: ObjectPath) throws {}

  /// The properties of a collection, except `Items`.
  package func properties(of collection: CollectionID) throws -> CollectionProperties { throw todo }

  /// The property `Items` of a collection.
  package func items(of collection: CollectionID) throws -> [ObjectPath] { throw todo }

  /// Sets the property `Label` of a collection.
  package func setLabel(_ label: String, of collection: CollectionID) throws {}

  // MARK: Items

  /// `Service.SearchItems`.
  package func searchItems(_ attributes: ServiceAttributes) throws -> FoundItems { throw todo }

  /// `Collection.SearchItems`.
  package func searchItems(
    _ attributes: ServiceAttributes, in collection: CollectionID
  ) throws -> [ObjectPath] { throw todo }

  /// `CreateItem`. The prompt of the reply is always ``ObjectPath/none``.
  package func createItem(
    _ properties: NewItemProperties, _ secret: WireSecret, replace: Bool, in collection: CollectionID,
    for sender: Sender
  ) throws -> Answer<ObjectPath> { throw todo }

  /// `Item.Delete`. The prompt of the reply is always ``ObjectPath/none``.
  package func delete(_ item: ItemAddress, for sender: Sender) throws -> Answer<ObjectPath> { throw todo }

  /// `GetSecret`.
  package func secret(
    of item: ItemAddress, session: ObjectPath, for sender: Sender
  ) throws -> Answer<WireSecret> { throw todo }

  /// `SetSecret`.
  package func setSecret(
    _ secret: WireSecret, of item: ItemAddress, for sender: Sender
  ) throws -> Answer<Void> { throw todo }

  /// `GetSecrets`.
  package func secrets(
    of items: [ObjectPath], session: ObjectPath, for sender: Sender
  ) throws -> Answer<[ItemSecret]> { throw todo }

  /// The properties of an item.
  package func properties(of item: ItemAddress) throws -> ItemProperties { throw todo }

  /// Sets the property `Label` of an item.
  package func setLabel(
    _ label: String, of item: ItemAddress, for sender: Sender
  ) throws -> Answer<Void> { throw todo }

  /// Sets the property `Attributes` of an item.
  package func setAttributes(
    _ attributes: ServiceAttributes, of item: ItemAddress, for sender: Sender
  ) throws -> Answer<Void> { throw todo }

  // MARK: Locks and prompts

  /// `Unlock`.
  package func unlock(_ paths: [ObjectPath], for sender: Sender) throws -> LockResult { throw todo }

  /// `Lock`.
  package func lock(_ paths: [ObjectPath], for sender: Sender) throws -> Answer<LockResult> { throw todo }

  /// `Prompt.Prompt`. Returns the work to start after the reply; nil if the prompt shares one that is running.
  ///
  /// - Throws: `noSuchObject`, `alreadyExists`, `limitsExceeded`.
  package func prompt(_ prompt: PromptID, for sender: Sender) throws -> Work<Void>? { throw todo }

  /// `Prompt.Dismiss`.
  package func dismiss(_ prompt: PromptID, for sender: Sender) throws {}

  private var todo: SecretServiceError { SecretServiceError(.notSupported, "not supported") }
}
