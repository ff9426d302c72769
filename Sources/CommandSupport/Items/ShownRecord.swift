package import KeyringModel
internal import Terminal

extension CommandCall {
  /// Prints the attributes, one per line, or as one JSON object.
  package func show(_ record: ItemRecord) {
    if globals.json {
      console.write(RecordMembers.of(record))
      return
    }
    // A request for the attributes of one item shows their complete values.
    var table = Table(
      ["attribute", "value"], isTerminal: console.outputIsTerminal, cellWidth: nil)
    let fixed: [AttributeName] = [
      .itemClass, .id, .revision, .group, .created, .modified, .secretModified,
    ]
    table.add(["reference", record.reference.text])
    for name in fixed {
      table.add([Array(name.text.utf8), record.value(of: name)?.shownBytes ?? []])
    }
    for entry in record.attributes.entries {
      table.add([Array(entry.name.text.utf8), entry.value.shownBytes])
    }
    console.write(table)
  }
}
