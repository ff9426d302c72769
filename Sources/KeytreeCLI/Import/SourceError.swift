package import Encoding
internal import Secrets

/// Why a file of another program cannot be read as a whole. No content of it is part of an error.
package enum SourceError: Error, Equatable {
  /// It holds nothing.
  case empty
  /// It has more bytes than are read.
  case tooLarge(limit: Int)
  /// It is text in another encoding than UTF-8.
  case notUTF8
  /// It is encrypted by the program that wrote it.
  case encrypted
  /// It is no JSON.
  case json(SecretJSONError)
  /// It is no XML, or XML of a kind that is not read.
  case xml(XMLProblem)
  /// It is no ZIP archive, or one of a kind that is not read.
  case archive(ArchiveProblem)
  /// A line cannot be understood.
  case line(Int, String)
  /// It is sound, but not what this command reads.
  case otherFormat(expected: String)
}

/// Why XML is not read.
package enum XMLProblem: Error, Equatable {
  /// It breaks off.
  case truncated
  /// It is not well-formed.
  case malformed(line: Int)
  /// It declares a document type, which may define entities. No password manager's export has one.
  case documentType(line: Int)
  /// Elements inside each other, more than are read.
  case tooDeep(line: Int)
  /// More elements than are read.
  case tooMany(limit: Int)
}

/// Why a ZIP archive is not read.
package enum ArchiveProblem: Error, Equatable {
  /// There is no end of a central directory.
  case notAnArchive
  /// A field contradicts another one, or the size of the file; members overlap, or bytes belong to none.
  case damaged
  /// It has more members than are read.
  case tooManyMembers(limit: Int)
  /// Two members have one name.
  case duplicateName
  /// A name leads out of the archive, or is none.
  case unsafeName
  /// A member is encrypted.
  case encrypted
  /// A member is compressed in a way that is not read, or the archive is one of several parts, or of 64 bits.
  case unsupported
  /// A member is larger than it says, or than is read.
  case tooLarge(limit: Int)
  /// What was taken out of a member is not what was put in.
  case badChecksum
}
