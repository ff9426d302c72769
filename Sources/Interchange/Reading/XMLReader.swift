internal import CExpat
internal import CSystem
internal import Secrets

/// An element of an XML document whose text stays in wiped memory.
struct XMLNode: Sendable {
  /// Its name as written.
  let name: String
  /// Its attributes, which are not secret in any supported format.
  let attributes: [(name: String, value: String)]
  /// Its child elements.
  let children: [XMLNode]
  /// Its text. If it has children, the text after the last one.
  let text: SecretSlice

  /// Returns the first child with this name.
  subscript(name: String) -> XMLNode? { children.first { $0.name == name } }

  /// Returns all children with this name.
  func all(_ name: String) -> [XMLNode] { children.filter { $0.name == name } }

  /// Returns the value of an attribute.
  func attribute(_ name: String) -> String? { attributes.first { $0.name == name }?.value }
}

/// A reader of XML in UTF-8, based on expat. Document types are refused, so only the five predefined entities can
/// occur.
enum XMLReader {
  /// The largest depth of elements.
  static let depthLimit = 200
  /// The largest number of elements and attributes. Each takes many times its size in the document.
  static let countLimit = 2_000_000

  /// A Boolean value that indicates whether expat can be loaded.
  static var isAvailable: Bool { Run(capacity: 0) != nil }

  /// Reads a whole document.
  ///
  /// - Returns: its root element.
  /// - Throws: `empty`, `notUTF8`, `xml`, `notInstalled`.
  static func read(_ bytes: borrowing SecretBytes) throws(SourceError) -> XMLNode {
    try SourceText.check(bytes)
    guard let run = Run(capacity: bytes.count) else { throw .notInstalled(.expat) }
    let problem = unsafe bytes.withBytes { unsafe run.parse($0) }
    if let problem { throw .xml(problem) }
    guard let root = run.root() else { throw .xml(.truncated) }
    return root
  }

  /// An element whose text is a range of the content that is still being collected.
  fileprivate struct Open {
    var name: String
    var attributes: [(name: String, value: String)]
    var children: [Open] = []
    var text = 0..<0

    func node(in content: SecretSlice) -> XMLNode {
      XMLNode(
        name: name, attributes: attributes, children: children.map { $0.node(in: content) },
        text: content.part(text))
    }
  }

  @safe
  fileprivate final class Run {
    private var expat = keytree_expat()
    private var content: SecretBytes
    private var open: [Open] = []
    private var document: Open?
    private var problem: XMLProblem?
    private var count = 0
    private var parser: XML_Parser?

    /// Returns nil if expat is not installed.
    init?(capacity: Int) {
      guard unsafe keytree_expat_load(ImportLibrary.expat.fileName, &expat) == 1 else { return nil }
      content = SecretBytes(capacity: capacity)
    }

    func parse(_ text: UnsafeRawBufferPointer) -> XMLProblem? {
      // Expat's temporary memory is wiped as well.
      var memory = unsafe XML_Memory_Handling_Suite(
        malloc_fcn: { unsafe keytree_resize(nil, $0) },
        realloc_fcn: { unsafe keytree_resize($0, $1) }, free_fcn: { unsafe keytree_release($0) })
      // Always UTF-8, regardless of the document's declaration.
      unsafe parser = expat.XML_ParserCreate_MM("UTF-8", &memory, nil)
      guard let parser = unsafe parser else { preconditionFailure("out of memory for an XML parser") }
      defer { unsafe expat.XML_ParserFree(parser) }
      unsafe expat.XML_SetUserData(parser, Unmanaged.passUnretained(self).toOpaque())
      unsafe expat.XML_SetElementHandler(
        parser, { unsafe Run.of($0).start($1, $2) }, { run, _ in unsafe Run.of(run).end() })
      unsafe expat.XML_SetCharacterDataHandler(parser) { unsafe Run.of($0).text($1, $2) }
      unsafe expat.XML_SetStartDoctypeDeclHandler(parser) { run, _, _, _, _ in
        unsafe Run.of(run).stop { .documentType(line: $0) }
      }
      let bytes = unsafe text.bindMemory(to: CChar.self)
      let status = unsafe expat.XML_Parse(parser, bytes.baseAddress, Int32(bytes.count), 1)
      if let problem { return problem }
      guard status != XML_STATUS_OK else { return nil }
      switch unsafe expat.XML_GetErrorCode(parser) {
      case XML_ERROR_NO_ELEMENTS, XML_ERROR_UNCLOSED_TOKEN, XML_ERROR_PARTIAL_CHAR,
        XML_ERROR_UNCLOSED_CDATA_SECTION:
        return .truncated
      default: return unsafe .malformed(line: Int(expat.XML_GetCurrentLineNumber(parser)))
      }
    }

    func root() -> XMLNode? {
      var taken = SecretBytes()
      swap(&taken, &content)
      return document?.node(in: SecretSlice(taken))
    }

    private static func of(_ pointer: UnsafeMutableRawPointer?) -> Run {
      guard let pointer = unsafe pointer else { preconditionFailure("expat passes the user data") }
      return unsafe Unmanaged<Run>.fromOpaque(pointer).takeUnretainedValue()
    }

    private func start(
      _ name: UnsafePointer<CChar>?, _ pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    ) {
      guard open.count < XMLReader.depthLimit else { return stop { .tooDeep(line: $0) } }
      count += 1
      var attributes: [(name: String, value: String)] = []
      var position = 0
      while let pairs = unsafe pairs, let key = unsafe pairs[position], let value = unsafe pairs[position + 1]
      {
        unsafe attributes.append((String(cString: key), String(cString: value)))
        position += 2
        count += 1
      }
      guard count <= XMLReader.countLimit else { return stop { _ in .tooMany(limit: XMLReader.countLimit) } }
      let name = unsafe name.map { unsafe String(cString: $0) } ?? ""
      open.append(Open(name: name, attributes: attributes, text: content.count..<content.count))
    }

    private func text(_ bytes: UnsafePointer<CChar>?, _ count: Int32) {
      unsafe content.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    }

    private func end() {
      guard var done = open.popLast() else { return }
      done.text = done.text.lowerBound..<content.count
      guard let last = open.indices.last else {
        document = done
        return
      }
      open[last].children.append(done)
      // After each child, the text of the element starts again.
      open[last].text = content.count..<content.count
    }

    private func stop(_ problem: (Int) -> XMLProblem) {
      guard let parser = unsafe parser, self.problem == nil else { return }
      self.problem = problem(unsafe Int(expat.XML_GetCurrentLineNumber(parser)))
      _ = unsafe expat.XML_StopParser(parser, 0)
    }
  }
}
