import KeyringModel
import Testing

@testable import SecretService

@Suite(.serialized) struct PathTests {
  @Test(
    arguments: [
      ("default", "default"), ("my-group", "my_2dgroup"), ("a.b_c", "a_2eb_5fc"), ("session", "_73ession"),
    ])
  func `a group has one name in paths`(group: String, name: String) {
    #expect(CollectionID.group(group).pathName == name)
    #expect(CollectionID(pathName: name) == .group(group))
  }

  @Test func `the collection in memory is not the group of that name`() {
    #expect(CollectionID.session.pathName == "session")
    #expect(CollectionID(pathName: "session") == .session)
  }

  @Test(arguments: ["", "a_2", "a_2D", "a_61", "_64efault", "a-b", "a_zz", "a_ff", "_73essio_6e"])
  func `another spelling is not a name`(name: String) {
    #expect(CollectionID(pathName: name) == nil)
  }
}
