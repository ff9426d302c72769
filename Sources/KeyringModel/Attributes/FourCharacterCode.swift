/// Apple's four-character codes, and the words that the store uses for some of them.
///
/// The store keeps the words. `KeychainServices` and the command under the name `security` convert between words and
/// codes with this table (`kSecAttrProtocol...` and `kSecAttrAuthenticationType...` of SecItem).
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

  /// Returns the word that the store keeps for a code.
  ///
  /// - Parameters:
  ///   - code: Apple's code, including its trailing spaces.
  ///   - name: The attribute that has the value.
  /// - Returns: The word, or the code itself if it has no word.
  package static func word(for code: String, of name: AttributeName) -> String {
    words[name]?.first { $0.code == code }?.word ?? code
  }

  /// Returns Apple's code for a word.
  ///
  /// - Parameters:
  ///   - word: The word in the store.
  ///   - name: The attribute that has the value.
  /// - Returns: The code, or the word itself if it has no code. The word may have any number of characters.
  package static func code(for word: String, of name: AttributeName) -> String {
    words[name]?.first { $0.word == word }?.code ?? word
  }
}
