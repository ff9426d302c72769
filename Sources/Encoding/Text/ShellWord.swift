extension String {
  /// The text as one word of a command of `sh`, in single quotes.
  package var shellQuoted: String { "'\(replacing(bytesOf: "'", with: "'\\''"))'" }

  /// The text as one word of a command of `sh`: as it is if it needs no quotation marks, otherwise in single quotes.
  package var shellWord: String {
    let isPlain =
      !isEmpty && !hasPrefix("-")
      && utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"):
          true
        default: "./_+-@=:,".utf8.contains(byte)
        }
      }
    return isPlain ? self : shellQuoted
  }
}
