/// The reasons why something on the bus failed.
package enum BusError: Error, Equatable {
  /// None of the libraries with the functions of sd-bus is installed.
  case libraryMissing(names: [String])
  /// The environment does not name a session bus.
  case noAddress
  /// The bus at an address cannot be reached.
  case cannotConnect(address: String, errno: Int32)
  /// A call was answered with an error.
  case errorReply(name: String, text: String)
  /// A reply has another signature than the called method.
  case unexpectedReply(member: String)
  /// The body of a message takes more memory than allowed.
  case tooLarge
  /// An array in the body of a message has more elements than allowed.
  ///
  /// - Parameter signature: The signature of an element.
  case tooManyElements(signature: String)
  /// The body of a message is invalid, or contains a type that is not supported, such as a file descriptor.
  case malformed
  /// A value cannot be sent, for example a string with a NUL or an invalid object path.
  case invalidValue
  /// A function of sd-bus failed.
  case system(function: String, errno: Int32)
}
