public import Encoding
public import FileSystem

/// The reasons why the path of a store is not known.
public enum StoreLocationError: Error, Equatable, Sendable {
  /// `HOME` is not set to an absolute path.
  case homeUnknown
  /// The file with the user's settings could not be read.
  case settings(FileError)
  /// Another user can change the file with the settings.
  case unsafeSettings(path: String, UnsafeFolderReason)
  /// The file with the settings is not JSON.
  case settingsNotJSON(path: String, JSONError)
  /// A setting, or the whole file, has the wrong type or value; the text is what it must be.
  case badSetting(String, mustBe: String, path: String)
}
