internal import Terminal

extension QRCode.Problem: ReportableError {
  package var report: ErrorReport { ErrorReport(self) }
}

extension ErrorReport {
  fileprivate init(_ problem: QRCode.Problem) {
    switch problem {
    case .tooLong(let limit):
      self.init(
        .failure,
        "cannot show the QR code: the secret is longer than \(limit) bytes, the capacity of a QR code",
        hint: "`keytree get ITEM --out FILE` writes it to a file")
    case .tooWide(let columns, let width):
      self.init(
        .failure, "cannot show the QR code: it needs \(columns) columns, and the terminal has \(width)",
        hint: "make the window wider, or use a smaller font")
    case .notInstalled(let library):
      self.init(
        .failure, "cannot create the QR code: \(library) is not installed",
        hint: "`sudo apt-get install \(QREncoder.package)` installs it")
    case .failed(let number):
      self.init(
        .failure, "cannot create the QR code: \(ErrorReport.systemMessage(number))",
        hint: ErrorReport.hint(number))
    }
  }
}
