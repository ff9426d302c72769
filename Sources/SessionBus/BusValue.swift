package import Secrets

/// A value in the body of a D-Bus message.
package indirect enum BusValue: Sendable, Equatable {
  /// `y`
  case byte(UInt8)
  /// `b`
  case boolean(Bool)
  /// `n`
  case int16(Int16)
  /// `q`
  case uint16(UInt16)
  /// `i`
  case int32(Int32)
  /// `u`
  case uint32(UInt32)
  /// `x`
  case int64(Int64)
  /// `t`
  case uint64(UInt64)
  /// `d`
  case double(Double)
  /// `s`
  case string(String)
  /// `o`: an object path.
  case objectPath(String)
  /// `g`: a signature.
  case signature(String)
  /// `ay`: an array of bytes. It may contain a secret, so it is always kept in memory that is wiped.
  case bytes(SecretSlice)
  /// `a` and the signature of an element: an array of anything but bytes. The elements must have that signature.
  case array(element: String, [BusValue])
  /// `(...)`
  case structure([BusValue])
  /// `{..}`: an entry of an array that is a dictionary. The key must be a basic type.
  case entry(BusValue, BusValue)
  /// `v`
  case variant(BusValue)

  /// The signature of the value's type.
  package var typeSignature: String {
    switch self {
    case .byte: "y"
    case .boolean: "b"
    case .int16: "n"
    case .uint16: "q"
    case .int32: "i"
    case .uint32: "u"
    case .int64: "x"
    case .uint64: "t"
    case .double: "d"
    case .string: "s"
    case .objectPath: "o"
    case .signature: "g"
    case .bytes: "ay"
    case .array(let element, _): "a" + element
    case .structure(let members): "(" + members.map(\.typeSignature).joined() + ")"
    case .entry(let key, let value): "{" + key.typeSignature + value.typeSignature + "}"
    case .variant: "v"
    }
  }

  /// Returns an array of object paths, `ao`.
  package static func objectPaths(_ paths: some Sequence<String>) -> BusValue {
    .array(element: "o", paths.map { .objectPath($0) })
  }

  /// Returns a dictionary of variants, `a{sv}`.
  package static func dictionary(_ entries: [(String, BusValue)]) -> BusValue {
    .array(element: "{sv}", entries.map { .entry(.string($0), .variant($1)) })
  }

  /// Returns a dictionary of strings, `a{ss}`.
  package static func strings(_ entries: some Sequence<(String, String)>) -> BusValue {
    .array(element: "{ss}", entries.map { .entry(.string($0), .string($1)) })
  }

  package static func == (left: BusValue, right: BusValue) -> Bool {
    switch (left, right) {
    case (.byte(let left), .byte(let right)): left == right
    case (.boolean(let left), .boolean(let right)): left == right
    case (.int16(let left), .int16(let right)): left == right
    case (.uint16(let left), .uint16(let right)): left == right
    case (.int32(let left), .int32(let right)): left == right
    case (.uint32(let left), .uint32(let right)): left == right
    case (.int64(let left), .int64(let right)): left == right
    case (.uint64(let left), .uint64(let right)): left == right
    case (.double(let left), .double(let right)): left == right
    case (.string(let left), .string(let right)), (.objectPath(let left), .objectPath(let right)),
      (.signature(let left), .signature(let right)):
      // Bytes, because Swift also calls different strings equal that look the same.
      left.utf8.elementsEqual(right.utf8)
    case (.bytes(let left), .bytes(let right)): left.isEqual(to: right)
    case (.array(let left, let members), .array(let right, let others)): left == right && members == others
    case (.structure(let left), .structure(let right)): left == right
    case (.entry(let key, let value), .entry(let otherKey, let otherValue)):
      key == otherKey && value == otherValue
    case (.variant(let left), .variant(let right)): left == right
    default: false
    }
  }
}
