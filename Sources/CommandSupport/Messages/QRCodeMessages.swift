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
        "cannot show the QR code: the secret is longer than the \(limit) bytes that one holds",
        hint: "`keytree get ITEM --out FILE` writes it to a file")
    case .tooWide(let columns, let width):
      self.init(
        .failure, "cannot show the QR code: it needs \(columns) columns, and the terminal has \(width)",
        hint: "make the window wider, or its characters smaller")
    case .failed(let number):
      self.init(
        .failure, "cannot make the QR code: \(ErrorReport.words(number))",
        hint: ErrorReport.hint(number))
    }
  }
}
