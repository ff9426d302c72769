internal import CGcrypt
internal import Secrets

/// The way in which the secrets of a session are encrypted on the bus.
enum SessionCipher: Sendable {
  /// They are not encrypted.
  case plain
  /// They are encrypted with AES-128.
  case encrypted(SessionKey)

  private static let algorithm = "dh-ietf1024-sha256-aes128-cbc-pkcs7"

  /// Negotiates a cipher.
  ///
  /// - Parameters:
  ///   - algorithm: The name of the algorithm.
  ///   - input: The client's input for the algorithm.
  /// - Returns: The cipher, and the output for the client.
  /// - Throws: `notSupported` for an unknown algorithm, `invalidArguments`, `failed`.
  static func negotiate(
    _ algorithm: String, _ input: SessionInput
  ) throws -> (cipher: SessionCipher, output: SessionOutput) {
    switch (algorithm, input) {
    case ("plain", .text): return (.plain, .text)
    case (Self.algorithm, .bytes(let peer)):
      do {
        let number = KeyExchange.newPrivateNumber()
        let key = SessionKey(try KeyExchange.sharedKey(peer, number))
        return (.encrypted(key), .bytes(try KeyExchange.publicNumber(of: number)))
      } catch is KeyExchange.InvalidNumber {
        throw SecretServiceError(.invalidArguments, "The public number is invalid.")
      } catch {
        throw SecretServiceError(.failed, "The key exchange failed.", cause: error)
      }
    case ("plain", _), (Self.algorithm, _):
      throw SecretServiceError(.invalidArguments, "The input of the algorithm has the wrong type.")
    default: throw SecretServiceError(.notSupported, "The algorithm is not supported.")
    }
  }

  /// Decrypts a secret of a client.
  ///
  /// - Throws: `invalidArguments` for a secret that cannot be decrypted, or is too large.
  func decrypt(_ secret: WireSecret) throws -> SecretSlice {
    let result: SecretSlice
    switch self {
    case .plain: result = secret.value
    case .encrypted(let key):
      guard secret.value.count <= ServiceLimits.secretSize + SessionKey.blockSize else { throw Self.tooLarge }
      do {
        result = SecretSlice(try key.decrypt(secret.value.copy(), vector: secret.parameters))
      } catch is SessionKey.InvalidMessage {
        throw SecretServiceError(.invalidArguments, "The secret cannot be decrypted with the session.")
      } catch {
        throw SecretServiceError(.failed, "The secret cannot be decrypted.", cause: error)
      }
    }
    guard result.count <= ServiceLimits.secretSize else { throw Self.tooLarge }
    return result
  }

  /// Encrypts a secret for a client.
  ///
  /// - Parameters:
  ///   - secret: The secret.
  ///   - contentType: Its media type.
  ///   - session: The path of the session.
  /// - Throws: `failed`.
  func encrypt(_ secret: SecretSlice, contentType: String, session: ObjectPath) throws -> WireSecret {
    switch self {
    case .plain:
      return WireSecret(session: session, parameters: [], value: secret, contentType: contentType)
    case .encrypted(let key):
      var vector = [UInt8](repeating: 0, count: SessionKey.blockSize)
      unsafe vector.withUnsafeMutableBytes { unsafe gcry_create_nonce($0.baseAddress, $0.count) }
      do {
        let value = SecretSlice(try key.encrypt(secret.copy(), vector: vector))
        return WireSecret(session: session, parameters: vector, value: value, contentType: contentType)
      } catch {
        throw SecretServiceError(.failed, "The secret cannot be encrypted.", cause: error)
      }
    }
  }

  private static let tooLarge = SecretServiceError(.invalidArguments, "The secret is larger than 1 MiB.")
}
