package import Encoding
internal import Secrets

/// The reason why a file of another program cannot be read as a whole. Errors contain no content of the file.
package enum SourceError: Error, Equatable {
  /// It is empty.
  case empty
  /// It is larger than the limit.
  case tooLarge(limit: Int)
  /// It is text in another encoding than UTF-8.
  case notUTF8
  /// It is encrypted by the program that wrote it.
  case encrypted
  /// It is not JSON.
  case json(SecretJSONError)
  /// It is not XML, or XML with an unsupported feature.
  case xml(XMLProblem)
  /// It is not a ZIP archive, or has an unsupported feature.
  case archive(ArchiveProblem)
  /// A line cannot be understood.
  case line(Int, String)
  /// It is a known file that is not read.
  case unsupported(UnsupportedFile)
  /// It is valid, but does not have the expected format.
  case otherFormat(expected: String)
  /// A library that reads this format is not installed, or lacks a function.
  case notInstalled(ImportLibrary)
}

/// A library that is loaded to read files of other programs.
package enum ImportLibrary: Sendable {
  /// Reads XML.
  case expat
  /// Unpacks compressed files.
  case zlib

  /// The name for `dlopen(3)`.
  package var fileName: String {
    switch self {
    case .expat: "libexpat.so.1"
    case .zlib: "libz.so.1"
    }
  }

  /// The name of Debian's package.
  package var package: String {
    switch self {
    case .expat: "libexpat1"
    case .zlib: "zlib1g"
    }
  }
}

/// The reason why XML is not read.
package enum XMLProblem: Error, Equatable {
  /// It is truncated.
  case truncated
  /// It is not well-formed.
  case malformed(line: Int)
  /// It declares a document type, which may define entities. No password manager's export has one.
  case documentType(line: Int)
  /// The elements are nested too deeply.
  case tooDeep(line: Int)
  /// There are more elements than the limit.
  case tooMany(limit: Int)
}

/// The reason why a ZIP archive is not read.
package enum ArchiveProblem: Error, Equatable {
  /// The end of the central directory is missing.
  case notAnArchive
  /// A field contradicts another one or the size of the file, members overlap, or bytes belong to no member.
  case damaged
  /// It has more members than the limit.
  case tooManyMembers(limit: Int)
  /// Two members have the same name.
  case duplicateName
  /// A name leads out of the archive, or is invalid.
  case unsafeName
  /// A member is encrypted.
  case encrypted
  /// The compression of a member is not supported, or the archive is split into parts, or it is ZIP64.
  case unsupported
  /// A member is larger than its header says, or than the limit.
  case tooLarge(limit: Int)
  /// The content of a member does not match its checksum.
  case badChecksum
}
