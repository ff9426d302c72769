/// An evaluation of a certificate chain.
///
/// Only the name exists, so that code that passes such objects on compiles. No function creates one, because certificate
/// chains are not evaluated.
public final class SecTrust: Sendable {
  private init() {}
}
