public import Foundation

/// Option: the passphrase of the file, as a string.
@safe public nonisolated(unsafe) let kSecImportExportPassphrase: CFString = "passphrase"
/// Option: the keychain of macOS to import into.
@safe public nonisolated(unsafe) let kSecImportExportKeychain: CFString = "keychain"
/// Option: the access of imported keys on macOS.
@safe public nonisolated(unsafe) let kSecImportExportAccess: CFString = "access"
/// Option: whether the items are handed out only and stored nowhere.
@safe public nonisolated(unsafe) let kSecImportToMemoryOnly: CFString = "memory"
/// Result: the label of an item.
@safe public nonisolated(unsafe) let kSecImportItemLabel: CFString = "label"
/// Result: the identifier of a key, as a rule SHA-1 of its public half.
@safe public nonisolated(unsafe) let kSecImportItemKeyID: CFString = "keyid"
/// Result: the trust object of an identity's certificates.
@safe public nonisolated(unsafe) let kSecImportItemTrust: CFString = "trust"
/// Result: the certificates of an identity, as an array.
@safe public nonisolated(unsafe) let kSecImportItemCertChain: CFString = "chain"
/// Result: the identity.
@safe public nonisolated(unsafe) let kSecImportItemIdentity: CFString = "identity"

/// Takes identities out of a PKCS#12 file; not implemented.
///
/// None of the libraries that this one rests on reads PKCS#12 (libksba, which reads certificates, does not), and a
/// reader of encrypted containers is nothing to be written beside other things. `openssl pkcs12` takes such a file
/// apart; certificate and key are then made with ``SecCertificateCreateWithData(_:_:)`` and
/// ``SecKeyCreateWithData(_:_:_:)``.
///
/// - Parameters:
///   - pkcs12_data: The file.
///   - options: Options by their `kSecImportExport...` keys.
///   - items: Receives nil.
/// - Returns: `errSecUnimplemented`.
public func SecPKCS12Import(
  _ pkcs12_data: CFData, _ options: CFDictionary, _ items: UnsafeMutablePointer<CFArray?>
) -> OSStatus {
  unsafe items.pointee = nil
  return errSecUnimplemented
}
