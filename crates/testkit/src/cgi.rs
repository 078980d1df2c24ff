//! How CGI, WSGI and PHP see header names: the reason why look-alikes of identity headers matter.

use std::collections::BTreeMap;

/// The environment variable that a header becomes: upper case, everything but letters and digits an
/// underscore. `X-Remote-User`, `x_remote_user` and `X.Remote.User` become one.
pub fn fold_cgi_name(name: &str) -> String {
    let folded = name.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' });
    "HTTP_".chars().chain(folded).collect()
}

/// All headers folded; values of names that fall together stand in one list.
pub fn fold_cgi<'a>(
    headers: impl IntoIterator<Item = (&'a str, &'a [u8])>,
) -> BTreeMap<String, Vec<Vec<u8>>> {
    let mut folded = BTreeMap::<String, Vec<Vec<u8>>>::new();
    for (name, value) in headers {
        folded.entry(fold_cgi_name(name)).or_default().push(value.to_vec());
    }
    folded
}
