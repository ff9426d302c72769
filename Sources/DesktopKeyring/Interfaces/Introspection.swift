internal import SecretService
internal import SessionBus

/// The description of an object in the format of the D-Bus specification, "Introspection Data Format".
enum Introspection {
  /// The maximum number of children that are listed. Programs that show all objects of a bus would otherwise request
  /// the description of every item.
  static let maximumChildren = 1000

  /// Returns the description of an object.
  ///
  /// - Throws: The error of the service, if its children cannot be listed.
  static func text(of object: ServiceObject, in service: SecretService) throws -> String {
    var lines = header
    for interface in ObjectInterfaces.all(object) { lines += self.lines(interface) }
    let children = try children(of: object, in: service)
    if children.count <= maximumChildren { lines += children.map { " <node name=\"\($0)\"/>" } }
    return (lines + ["</node>"]).map { $0 + "\n" }.joined()
  }

  /// Returns the description of a path above the service, by which programs find it; nil for any other call. No object
  /// has such a path, so it has no methods.
  static func textOfParent(of call: BusMessage) -> String? {
    guard call.member == "Introspect",
      call.interface ?? InterfaceName.introspectable == InterfaceName.introspectable
    else { return nil }
    let parts = call.path.split(separator: "/")
    let root = ObjectPath.service.text.split(separator: "/")
    guard parts.count < root.count, root.starts(with: parts) else { return nil }
    return header.map { $0 + "\n" }.joined() + " <node name=\"\(root[parts.count])\"/>\n</node>\n"
  }

  private static let header = [
    "<!DOCTYPE node PUBLIC \"-//freedesktop//DTD D-BUS Object Introspection 1.0//EN\"",
    " \"http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd\">", "<node>",
  ]

  /// Returns the children, relative to the path of the object. Paths have no characters that XML would escape.
  private static func children(of object: ServiceObject, in service: SecretService) throws -> [Substring] {
    switch object {
    case .service:
      service.collections.map { $0.text.dropFirst(ObjectPath.service.text.count + 1) }
    case .collection(let collection):
      try service.items(of: collection).compactMap { $0.text.split(separator: "/").last }
    case .item, .session, .prompt: []
    }
  }

  private static func lines(_ interface: BusInterface) -> [String] {
    var lines = [" <interface name=\"\(interface.name)\">"]
    for method in interface.methods {
      let arguments =
        method.inputs.map { line($0, direction: "in") } + method.outputs.map { line($0, direction: "out") }
      lines += element("method", method.name, arguments)
    }
    for property in interface.properties {
      let access = property.write == nil ? "read" : "readwrite"
      lines.append(
        "  <property name=\"\(property.name)\" type=\"\(property.signature)\" access=\"\(access)\"/>")
    }
    for signal in interface.signals {
      lines += element("signal", signal.name, signal.arguments.map { line($0, direction: nil) })
    }
    return lines + [" </interface>"]
  }

  private static func element(_ kind: String, _ name: String, _ content: [String]) -> [String] {
    content.isEmpty
      ? ["  <\(kind) name=\"\(name)\"/>"] : ["  <\(kind) name=\"\(name)\">"] + content + ["  </\(kind)>"]
  }

  private static func line(_ argument: BusArgument, direction: String?) -> String {
    let direction = direction.map { " direction=\"\($0)\"" } ?? ""
    return "   <arg name=\"\(argument.name)\" type=\"\(argument.signature)\"\(direction)/>"
  }
}
