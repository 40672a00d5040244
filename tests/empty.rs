//! Nothing here: this package is its `[[test]]` targets.
