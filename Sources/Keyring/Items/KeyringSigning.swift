package import KeyringModel
internal import OpenPGP

extension Keyring {
  /// Signs the records of a transaction with one signature.
  ///
  /// - Parameter records: The records; not empty.
  /// - Returns: Their files, in the same order.
  /// - Throws: `KeyringError.attributesTooLarge` for a record that does not fit into a line; `.unknownGroup` for a
  ///   group that is not in the policy; `.team` with `notInGroup` for a group that this user is not a member of, since
  ///   its members would reject the signature; `.engine` if signing fails.
  package func sign(_ records: [ItemRecord]) throws(KeyringError) -> [RecordFile] {
    var lines: [[UInt8]] = []
    for record in records {
      do throws(IndexLineError) {
        lines.append(try IndexLine.encode(record))
      } catch {
        throw .attributesTooLarge(error)
      }
    }
    let tree = MerkleTree(leaves: lines.map { MerkleTree.leaf(of: $0) })
    let statement = SignedRoot(
      keyring: policy.keyring, root: tree.root, leaves: lines.count, time: host.clock())
    let (signature, signer) = try signing(for: Set(records.map(\.group))) { signer throws(EngineError) in
      try engine.signMessage(statement.encode(), signer: signer)
    }
    roots.remember([ContentDigest(of: signature): signer])
    let proofs = RecordProof.all(of: tree, count: lines.count, signature: signature)
    var files: [RecordFile] = []
    for (line, proof) in zip(lines, proofs) {
      do throws(IndexLineError) {
        // The line is parsed again because encoding normalises the values.
        files.append(RecordFile(line: line, record: try IndexLine.parse(line), proof: proof))
      } catch {
        throw .attributesTooLarge(error)
      }
    }
    return files
  }
}

extension Keyring {
  /// Checks that this user may replace or remove an item, or bring it back: is a member of its group with any of their
  /// keys.
  ///
  /// Its members could not tell a deletion by someone else from one of their own, because deletions are not signed. An
  /// item of a group that the policy does not have has no members; it can only be removed.
  ///
  /// - Parameters:
  ///   - record: The item.
  ///   - isForAdmins: True to let an admin of the keyring do it, too.
  /// - Throws: `KeyringError.team` with `notInGroup`; `.engine` when the user's keys cannot be listed.
  package func requireMembership(
    of record: ItemRecord, orAdmin isForAdmins: Bool = false
  ) throws(KeyringError) {
    guard let members = policy.groups[record.group], !members.contains(trusted.signer) else { return }
    if try ownPeople().contains(where: members.contains) { return }
    if isForAdmins, try isAdmin() { return }
    throw .team(.notInGroup(record.group, record.reference))
  }

  /// The verifier for records, which uses the policy of this keyring.
  var verifier: RecordVerifier {
    RecordVerifier(
      policy: policy, replaced: trusted.replaced, engine: engine, roots: roots, remembered: rememberedRecords,
      workers: host.workers)
  }

  /// Verifies records that are not in the store, such as those of the history or of a remote.
  ///
  /// - Parameter claims: The records.
  /// - Returns: For each record, in the same order, the verified record or the reason to reject it.
  /// - Throws: `KeyringError.engine` if GnuPG cannot be used.
  package func verify(
    _ claims: [RecordClaim]
  ) throws(KeyringError) -> [Result<VerifiedRecord, RecordProblem>] { try verifier.verify(claims) }
}
