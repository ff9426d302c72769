internal import Glibc

extension Engine {
  /// Returns the people's keys as they were listed when the engine home was made. Creates no home and starts no
  /// process.
  ///
  /// - Returns: The keys, sorted by fingerprint; nil if this set of keys has no finished home.
  package func rememberedKeys() -> [PublicKey]? {
    guard unsafe access(HomeSeal.path(in: maker.path), F_OK) == 0 else { return nil }
    // A removed or damaged home counts as missing, because callers can do without the keys.
    let home = try? maker.home { () throws(EngineError) in
      throw .engineMissing(detail: "the engine home is not finished")
    }
    return home?.table.keys.values.sorted { $0.fingerprint < $1.fingerprint }
  }
}
