import Foundation
import Security

/// Values that a correct program would not pass, by their type.
enum HostileValues {
  /// All these values, created again on each access.
  static var all: [(name: String, value: Any)] { numbers + texts + bytes + moments + containers + objects }

  /// The names of lists that contain themselves, or contain such a list.
  static let endless: Set<String> = ["a list that contains itself", "a list of cyclic containers"]

  /// Values for the keys of a dictionary.
  static var keys: [AnyHashable] {
    [
      "", "\u{0}", "acct\u{0}", "e\u{301}", String(repeating: "k", count: 1 << 16), 0, 1.5, Double.nan, true,
      Date.distantPast, Data([0xff]), NSNull(), NSObject(), UUID(), [1, 2] as [Int], IndexPath(index: 3),
      NSString(string: "acct"), CustomString("acct"), NSNumber(value: 7),
    ]
  }

  private static var numbers: [(String, Any)] {
    [
      ("NaN", Double.nan), ("infinity", Double.infinity), ("minus infinity", -Double.infinity),
      ("minus zero", -0.0),
      ("smallest", Double.leastNonzeroMagnitude), ("greatest", Double.greatestFiniteMagnitude),
      ("Int.max", Int.max), ("Int.min", Int.min), ("UInt64.max", UInt64.max), ("2^53 + 1", (1 << 53) + 1),
      ("Int8", Int8(-1)), ("UInt8", UInt8(255)), ("Float", Float(0.1)), ("Float.nan", Float.nan),
      ("Decimal", Decimal(string: "1e100") as Any), ("Decimal.nan", Decimal.nan),
      ("NSDecimalNumber", NSDecimalNumber(string: "0.1")),
      ("NSDecimalNumber.nan", NSDecimalNumber.notANumber),
      ("zero", 0), ("minus one", -1), ("true", true), ("CGFloat", CGFloat(1.25)),
    ]
  }

  private static var texts: [(String, Any)] {
    let surrogates: [unichar] = [0xD800, 0x61, 0xDFFF, 0xDC00, 0xD800]
    return [
      ("empty text", ""), ("NUL", "a\u{0}b"), ("1 MiB of text", String(repeating: "é", count: 1 << 19)),
      ("lone surrogates", unsafe NSString(characters: surrogates, length: surrogates.count)),
      ("marks", String(repeating: "\u{301}", count: 2000)), ("right to left", "\u{202E}\u{200B}\u{1B}[2J"),
      ("not a character", "\u{FFFF}\u{10FFFF}"), ("changeable text", NSMutableString(string: "x")),
      ("text of a custom class", CustomString("text")), ("a part of a text", "abcdef".dropFirst(2)),
      ("a character", Character("x")), ("line ends", "a\r\nb\nc"),
      ("text like a number", "00000000000000000007"),
      ("a long number", String(repeating: "9", count: 400)), ("a path", "../../../etc/passwd"),
    ]
  }

  private static var bytes: [(String, Any)] {
    [
      ("no bytes", Data()), ("bytes that are not text", Data([0xff, 0xfe, 0xc0, 0x80, 0])),
      ("a surrogate as bytes", Data([0xed, 0xa0, 0x80])), ("1 MiB of bytes", Data(count: 1 << 20)),
      ("changeable bytes", NSMutableData(length: 3) as Any),
      ("a slice", Data([1, 2, 3, 4]).dropFirst(2)), ("an array of bytes", [UInt8](repeating: 7, count: 9)),
      ("a reference to nothing", Data("genp".utf8) + Data(repeating: 0xff, count: 16)),
    ]
  }

  private static var moments: [(String, Any)] {
    [
      ("distant past", Date.distantPast), ("distant future", Date.distantFuture),
      ("NaN as a moment", Date(timeIntervalSinceReferenceDate: .nan)),
      ("an endless moment", Date(timeIntervalSinceReferenceDate: .infinity)),
      ("the greatest moment", Date(timeIntervalSinceReferenceDate: .greatestFiniteMagnitude)),
      ("before the year 0", Date(timeIntervalSince1970: -62_167_219_201)),
      ("the year 10000", Date(timeIntervalSince1970: 253_402_300_800)),
    ]
  }

  private static var containers: [(String, Any)] {
    let list = NSMutableArray()
    list.add(list)
    let dictionary = NSMutableDictionary()
    dictionary["labl"] = dictionary
    var deep: NSArray = []
    for _ in 0..<1000 { deep = [deep] }
    return [
      ("a list that contains itself", list), ("a dictionary that contains itself", dictionary),
      ("a list of cyclic containers", [list, dictionary] as NSArray), ("a deep list", deep),
      ("an empty list", [Any]()),
      ("a long list", [Int](repeating: 1, count: 5000)), ("an empty dictionary", [String: Any]()),
      ("a set", NSSet(array: [1, 2])), ("a set of Swift's", Set(["x"])),
      ("an ordered set", NSOrderedSet(array: [1])),
      ("a list of nulls", [NSNull(), NSNull()]), ("a list of bytes", [Data(), Data(count: 20)]),
    ]
  }

  private static var objects: [(String, Any)] {
    struct Nothing {}
    return [
      ("null", NSNull()), ("an object", NSObject()), ("a value of Swift's", Nothing()),
      ("a type", Nothing.self),
      ("nil", Optional<Int>.none as Any), ("nil in nil", Optional<Int?>.some(nil) as Any),
      ("a tuple", (1, "x")),
      ("a URL", URL(fileURLWithPath: "/")), ("a UUID", UUID()), ("an error", CocoaError(.fileNoSuchFile)),
      ("a function", { 5 } as () -> Int), ("a locale", Locale(identifier: "en")), ("a context", LAContext()),
      (
        "an access control",
        SecAccessControlCreateWithFlags(nil, kSecAttrAccessibleWhenUnlocked, [], nil) as Any
      ),
    ]
  }
}

/// Text in a custom class, whose superclass does not know the text.
final class CustomString: NSMutableString {
  private var characters: [unichar] = []

  convenience init(_ text: String) {
    self.init(capacity: 0)
    characters = Array(text.utf16)
  }

  required init(capacity: Int) { super.init(capacity: capacity) }
  required convenience init(characters: UnsafePointer<unichar>, length: Int) {
    self.init(unsafe String(decoding: UnsafeBufferPointer(start: characters, count: length), as: UTF16.self))
  }
  required convenience init?(coder: NSCoder) { nil }
  required convenience init(string: String) { self.init(string) }
  required convenience init(stringLiteral value: StaticString) { self.init(value.description) }
  required convenience init(extendedGraphemeClusterLiteral value: StaticString) {
    self.init(value.description)
  }
  required convenience init(unicodeScalarLiteral value: StaticString) { self.init(value.description) }

  override var length: Int { characters.count }
  override func character(at index: Int) -> unichar { characters[index] }
}

/// A dictionary in a custom class that lists more keys than it has values.
final class CustomDictionary: NSDictionary {
  convenience init() { unsafe self.init(objects: nil, forKeys: nil, count: 0) }
  required init?(coder: NSCoder) { nil }
  required init(objects: UnsafePointer<AnyObject>!, forKeys keys: UnsafePointer<NSObject>!, count: Int) {
    unsafe super.init(objects: objects, forKeys: keys, count: count)
  }

  override var count: Int { 3 }
  override func object(forKey key: Any) -> Any? { (key as? String) == "class" ? "genp" : nil }
  override func keyEnumerator() -> NSEnumerator {
    (["class", "acct", "svce"] as NSArray).objectEnumerator()
  }
  override func copy(with zone: NSZone? = nil) -> Any { self }
}
