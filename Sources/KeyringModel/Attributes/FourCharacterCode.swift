/// Apple's four-character codes, and the words that the store has for some of them.
///
/// The store keeps words. Who speaks Apple's language, `KeychainServices` and the command under the name `security`,
/// translates with this table (`kSecAttrProtocol...` and `kSecAttrAuthenticationType...` of SecItem).
package enum FourCharacterCode {
  private static let words: [AttributeName: [(code: String, word: String)]] = [
    .protocol: [
      ("ftp ", "ftp"), ("ftpa", "ftp-account"), ("http", "http"), ("irc ", "irc"), ("nntp", "nntp"),
      ("pop3", "pop3"), ("smtp", "smtp"), ("sox ", "socks"), ("imap", "imap"), ("ldap", "ldap"),
      ("atlk", "appletalk"), ("afp ", "afp"), ("teln", "telnet"), ("ssh ", "ssh"), ("ftps", "ftps"),
      ("htps", "https"), ("htpx", "http-proxy"), ("htsx", "https-proxy"), ("ftpx", "ftp-proxy"),
      ("smb ", "smb"), ("rtsp", "rtsp"), ("rtsx", "rtsp-proxy"), ("daap", "daap"), ("eppc", "eppc"),
      ("ipp ", "ipp"), ("ntps", "nntps"), ("ldps", "ldaps"), ("tels", "telnets"), ("imps", "imaps"),
      ("ircs", "ircs"), ("pops", "pop3s"),
    ],
    .authenticationType: [
      ("ntlm", "ntlm"), ("msna", "msn"), ("dpaa", "dpa"), ("rpaa", "rpa"), ("http", "http-basic"),
      ("httd", "http-digest"), ("form", "html-form"), ("dflt", "default"),
    ],
  ]

  /// The word that the store keeps for a code.
  ///
  /// - Parameters:
  ///   - code: Apple's code, its trailing spaces included.
  ///   - name: The attribute that it is a value of.
  /// - Returns: The word; the code itself where there is none.
  package static func word(for code: String, of name: AttributeName) -> String {
    words[name]?.first { $0.code == code }?.word ?? code
  }

  /// The code that Apple has for a word.
  ///
  /// - Parameters:
  ///   - word: The word, as the store keeps it.
  ///   - name: The attribute that it is a value of.
  /// - Returns: The code; the word itself where there is none, which need not have four characters.
  package static func code(for word: String, of name: AttributeName) -> String {
    words[name]?.first { $0.word == word }?.code ?? word
  }
}
