//! `import`.
/// Names.
pub fn source_names() -> Vec<&'static str> {
    vec!["auto"]
}
/// Later.
pub fn import(
    _: &super::args::ImportArgs,
    _: &super::args::Global,
    _: &super::console::Console,
) -> Result<crate::error::Exit, crate::error::Error> {
    Err(crate::error::Error::Input("later".into()))
}
