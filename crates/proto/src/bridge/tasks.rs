//! Long work between the experiment and the extension.
