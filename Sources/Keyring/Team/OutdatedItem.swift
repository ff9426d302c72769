internal import KeyringModel
internal import OpenPGP

extension Reencryption {
  /// An item that has to be updated.
  struct Outdated: Sendable {
    /// The current record.
    let verified: VerifiedRecord
    /// True if the file has to be re-encrypted; false if the record only has to be signed.
    let needsEncryption: Bool
    /// True if a member of the group cannot decrypt the item yet.
    let lacksReaders: Bool
    /// True if a key outside the group can decrypt the item.
    let hasOtherReaders: Bool
    /// True if the signer is a member of the group, and the signature is valid by the new key files.
    let isSigned: Bool
    /// True if the signer is a member of the group, but their new key file makes the signature invalid.
    let losesSignature: Bool
    /// The member whose key cannot be encrypted to, so that the item keeps its recipients until that key is renewed or
    /// the member is removed; nil if the recipients are right, or can be changed now.
    let waitsFor: (person: Fingerprint, problem: KeyProblem)?
    /// The conflict copy; nil for an item in the store.
    let copy: ConflictCopy?

    /// True if something about the item can be changed now.
    var isDue: Bool { needsEncryption || !isSigned }

    /// The verified record.
    var record: ItemRecord { verified.record }

    /// Distinguishes a conflict copy from an item with the same record.
    var name: Name { Name(line: verified.file.line, isCopy: copy != nil) }
  }

  /// The name of an outdated item or conflict copy.
  struct Name: Hashable, Sendable {
    let line: [UInt8]
    let isCopy: Bool
  }

  /// The new version of an outdated item.
  struct Piece: Sendable {
    let outdated: Outdated
    let item: PreparedItem
    /// The version of a conflict copy that may have duplicates; nil for everything else.
    var version: CopyVersion?
    /// Other conflict copies of the same version, which the new copy replaces as well.
    var duplicates: [Name] = []
  }
}
