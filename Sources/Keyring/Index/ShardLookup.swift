internal import KeyringModel

extension Shard {
  func record(id: ItemID) -> ItemRecord? { records.first { $0.id == id } }

  func record(path: ItemPath) -> ItemRecord? { lines.first { $0.path == path }?.record }
}
