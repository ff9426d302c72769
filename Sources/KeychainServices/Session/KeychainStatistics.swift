package import OpenPGP

/// The cost of the functions of this process so far, for tests and measurements.
package enum KeychainStatistics {
  /// The work of GnuPG for the open store. All numbers are zero before the first call that decrypts or changes
  /// something.
  package static var current: EngineStatistics { KeychainSession.shared.engineStatistics }
}
