extension ImportLibrary {
  /// A Boolean value that indicates whether the library can be loaded.
  package var isInstalled: Bool {
    switch self {
    case .expat: XMLReader.isAvailable
    case .zlib: (try? Inflation()) != nil
    }
  }
}
