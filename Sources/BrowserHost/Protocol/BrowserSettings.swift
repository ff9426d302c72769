/// The user's settings for the host, from the settings of the command.
package struct BrowserSettings: Equatable, Sendable {
  /// The protocols of the logins that a browser sees, in lower case.
  package var protocols: Set<String> = ["http", "https"]
  /// The number of logins that may be fetched in one minute.
  package var fetchesPerMinute = 30
  /// True to refuse a login for a tab with another protocol, port or host.
  package var restrictsToSite = false
  /// True to store new logins without a host as generic passwords.
  package var storesGeneric = false

  /// Creates the default settings.
  package init() {}
}
