/// Attributes that items of a class can have. Every value has the type of its attribute.
package struct CheckedAttributes: Equatable, Sendable {
  /// The class.
  package let itemClass: ItemClass
  /// The attributes, normalized as by ``AttributeSchema/normalized(name:value:)``.
  package let attributes: Attributes

  /// Converts every value to the type of its attribute, and checks all of them.
  ///
  /// - Throws: ``AttributeError`` for the first attribute that an item of the class cannot have.
  package init(_ attributes: Attributes, class itemClass: ItemClass) throws(AttributeError) {
    var normalized = Attributes()
    for entry in attributes.entries {
      normalized[entry.name] = AttributeSchema.normalized(name: entry.name, value: entry.value)
    }
    try AttributeSchema.check(normalized, class: itemClass)
    self.itemClass = itemClass
    self.attributes = normalized
  }
}
