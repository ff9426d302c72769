public import Foundation

/// Option: the passphrase of the file, as a string.
@safe public nonisolated(unsafe) let kSecImportExportPassphrase: CFString = "passphrase"
/// Option: the macOS keychain to import into.
@safe public nonisolated(unsafe) let kSecImportExportKeychain: CFString = "keychain"
/// Option: the access object for imported keys on macOS.
@safe public nonisolated(unsafe) let kSecImportExportAccess: CFString = "access"
/// Option: a Boolean value that indicates whether the items are only returned and not stored.
@safe public nonisolated(unsafe) let kSecImportToMemoryOnly: CFString = "memory"
/// Result: the label of an item.
@safe public nonisolated(unsafe) let kSecImportItemLabel: CFString = "label"
/// Result: the identifier of a key, usually the SHA-1 of its public half.
@safe public nonisolated(unsafe) let kSecImportItemKeyID: CFString = "keyid"
/// Result: the trust object of an identity's certificates.
@safe public nonisolated(unsafe) let kSecImportItemTrust: CFString = "trust"
/// Result: the certificates of an identity, as an array.
@safe public nonisolated(unsafe) let kSecImportItemCertChain: CFString = "chain"
/// Result: the identity.
@safe public nonisolated(unsafe) let kSecImportItemIdentity: CFString = "identity"

/// Imports identities from a PKCS#12 file; not implemented.
///
/// None of the libraries that this one uses reads PKCS#12 (libksba, which reads certificates, does not), and a parser
/// for encrypted containers is a project in itself. Extract the certificate and the key with `openssl pkcs12`, and
/// create the objects with ``SecCertificateCreateWithData(_:_:)`` and ``SecKeyCreateWithData(_:_:_:)``.
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
