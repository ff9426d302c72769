import Foundation
import KeychainPasswords
import KeychainTestSupport
import Testing

/// The Swift code of the article about typed passwords, so that it compiles and runs.
///
/// The tests of the documents compare every `swift` block of the article with the lines of this file.
@Suite(.serialized) struct DocumentedPasswords {
  private struct Session: Codable, Equatable {
    let user: String
    let token: String
  }

  private let token: [UInt8] = [0, 1, 255]

  @Test func `the Swift code in the article about passwords works as described`() throws {
    let world = try KeychainWorld()
    defer { world.close() }
    try saveAndChange()
    try describeAndList()
    try share()
    let passwords = Passwords()
    let bot = GenericPassword(service: "values")
    try passwords.save(encoding: Session(user: "me", token: "3f9a"), for: bot)
    let session = try passwords.value(Session.self, for: bot)
    #expect(session == Session(user: "me", token: "3f9a"))
    let secret = try OneThread().run { try await Application(passwords: passwords, bot: bot).signIn() }
    #expect(secret == Data("open sesame".utf8))
    #expect(try passwords.list(GenericPassword.self).map(\.password.service) == ["mailer", "values"])
  }

  private func saveAndChange() throws {
    let passwords = Passwords()
    let bot = GenericPassword(service: "mailer", account: "bot")
    try passwords.save("open sesame".utf8, for: bot)

    guard let secret = try passwords.secret(for: bot) else { return }
    #expect(secret == Data("open sesame".utf8))

    var renamed = bot
    renamed.account = "robot"
    renamed.details.label = "Build mails"
    try passwords.update(bot, to: renamed)

    let wasThere = try passwords.delete(renamed)
    try passwords.deleteAll(InternetPassword.self, .server("github.com"))
    #expect(wasThere)
    #expect(try passwords.secret(for: bot) == nil)
  }

  private func describeAndList() throws {
    let passwords = Passwords()
    let details = PasswordDetails(label: "GitHub", kind: "API token", comment: "for releases")
    let site = InternetPassword(server: "github.com", account: "me", protocol: .https, details: details)
    try passwords.add(token, for: site)

    for stored in try passwords.list(InternetPassword.self, .server("github.com"), .protocol(.https)) {
      print(stored.password.account, stored.password.details.label ?? "", stored.modified ?? .distantPast)
    }

    #expect(throws: KeychainError.duplicateItem) { try passwords.add(token, for: site) }
    do throws(KeychainError) {
      try passwords.add(token, for: site)
    } catch .duplicateItem {
      print("there already")
    }
  }

  private func share() throws {
    let shared = Passwords(accessGroup: "default", interaction: .notAllowed)
    let here = PasswordDetails(accessibility: .whenUnlockedThisDeviceOnly)
    try shared.save(token, for: GenericPassword(service: "mailer", account: "local", details: here))
    #expect(try shared.list(GenericPassword.self, .accessibility(.whenUnlockedThisDeviceOnly)).count == 1)
  }

  private struct Application: Sendable {
    let passwords: Passwords
    let bot: GenericPassword

    @MainActor func signIn() async throws -> Data? {
      try await passwords.save("open sesame".utf8, for: bot)
      return try await passwords.secret(for: bot)
    }
  }
}
