// The types of `Git` appear in the declarations of this module, re-exported so that one import is enough.
@_exported public import Git
