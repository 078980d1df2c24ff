//! The configuration of the door: flags and file are one set of options, which become [`Settings`].

mod file;
mod options;
mod period;
mod schema;
mod settings;

pub(crate) use file::read;
pub(crate) use options::{API_VERSION, LogFormat, ServeOptions};
pub(crate) use period::Period;
pub(crate) use schema::schema;
pub(crate) use settings::{KeyPair, Settings, listen_address};

/// The key of a flag: `--client-ca` is `clientCa`.
pub(crate) fn key_of(flag: &str) -> String {
    let mut words = flag.trim_start_matches('-').split('-');
    let mut key = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut letters = word.chars();
        key.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        key.push_str(letters.as_str());
    }
    key
}
