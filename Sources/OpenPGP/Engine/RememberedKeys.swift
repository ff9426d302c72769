internal import Glibc

extension Engine {
  /// The people's keys as they were listed when the engine home was made.
  ///
  /// - Returns: The keys by fingerprint, or nil when there is no finished home for this key set: then nothing is
  ///   made and no process started.
  package func rememberedKeys() -> [PublicKey]? {
    guard unsafe access(EngineHome.stamp(maker.path), F_OK) == 0 else { return nil }
    // A home that went away or is damaged is as good as none, for a question that may go without an answer.
    let home = try? maker.home { () throws(EngineError) in
      throw .engineMissing(detail: "nothing is made for this question")
    }
    return home?.table.keys.values.sorted { $0.fingerprint < $1.fingerprint }
  }
}
