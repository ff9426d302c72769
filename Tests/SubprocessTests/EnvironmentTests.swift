import Glibc
import TestSupport
import Testing

@testable import Subprocess

/// Tests the environment variables of programs.
@Suite(.serialized) struct EnvironmentTests {
  private func environment(_ entries: [String], locale: String? = nil) -> ProcessEnvironment {
    ProcessEnvironment(entries: entries.map { Array($0.utf8) }, locale: locale)
  }

  private func texts(_ environment: ProcessEnvironment) -> [String] {
    environment.entries.map { String(decoding: $0, as: UTF8.self) }
  }

  @Test(arguments: [
    ([], []), (["A=1", "B=2"], ["A=1", "B=2"]), (["A=1", "A=2", "AB=3"], ["A=1", "AB=3"]),
    (["A", "=B", "", "="], []), (["A=", "B==="], ["A=", "B==="]), (["LC_ALL=de"], ["LC_ALL=de"]),
  ])
  func `entries are kept unchanged, the first one of each name`(given: [String], kept: [String]) {
    #expect(texts(environment(given)) == kept)
    #expect(texts(environment(given, locale: "C")) == kept.filter { $0 != "LC_ALL=de" } + ["LC_ALL=C"])
  }

  @Test func `bytes that are not UTF-8 are kept`() {
    let entry: [UInt8] = [0xFF, 0x3D, 0xFE]
    #expect(ProcessEnvironment(entries: [entry], locale: nil).entries == [entry])
  }

  @Test func `a dictionary becomes entries in the order of names`() {
    #expect(texts(ProcessEnvironment(["B": "2", "A": "1=1"])) == ["A=1=1", "B=2", "LC_ALL=C"])
  }

  @Test func `variables are removed by prefix and by name, and set`() {
    var environment = environment(["GIT_DIR=/x", "GIT=1", "git_dir=2", "MY_GIT_DIR=3", "GIT_=4", "HOME=/"])
    environment.removeAll(prefix: "GIT_")
    #expect(texts(environment) == ["GIT=1", "git_dir=2", "MY_GIT_DIR=3", "HOME=/"])
    environment.remove("GIT")
    environment.remove("HOM")
    environment.set("git_dir", to: "")
    environment.set("NEW", to: "a=b")
    #expect(texts(environment) == ["MY_GIT_DIR=3", "HOME=/", "git_dir=", "NEW=a=b"])
    #expect(environment.value("NEW").map(Array.init) == Array("a=b".utf8))
    #expect(environment.value("git_dir") == [])
    #expect(environment.value("NE") == nil)
  }
}
