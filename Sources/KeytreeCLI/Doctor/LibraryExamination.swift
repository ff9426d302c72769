internal import Interchange
internal import PasswordAudit
internal import Terminal

/// The checks of `doctor` for the libraries that a command loads when it needs them.
enum LibraryExamination {
  /// A note for each library that is missing.
  static var diagnoses: [Diagnosis] {
    var list: [Diagnosis] = []
    if !ImportLibrary.expat.isInstalled {
      list.append(missing(ImportLibrary.expat, "`import` cannot read files of KeePass"))
    }
    if !ImportLibrary.zlib.isInstalled {
      list.append(missing(ImportLibrary.zlib, "`import` cannot read files of KeePass and 1Password"))
    }
    if (try? QREncoder()) == nil {
      list.append(missing(QREncoder.library, "`--qr` cannot draw codes", package: QREncoder.package))
    }
    if StrengthEstimator() == nil {
      list.append(
        missing(
          StrengthEstimator.library, "`audit` cannot find weak passwords", package: StrengthEstimator.package)
      )
    }
    return list
  }

  private static func missing(_ library: ImportLibrary, _ effect: String) -> Diagnosis {
    missing(library.fileName, effect, package: library.package)
  }

  private static func missing(_ library: String, _ effect: String, package: String) -> Diagnosis {
    .note("library", "\(library) is not installed, so \(effect)", advice: "`sudo apt-get install \(package)`")
  }
}
