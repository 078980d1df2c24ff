//! Grammars as regular expressions, for the published schema. `check` has the same rules in code,
//! which can say more; a test holds the two together.

macro_rules! octet {
    () => {
        r"(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
    };
}
macro_rules! ipv4 {
    () => {
        concat!(octet!(), r"(\.", octet!(), r"){3}")
    };
}
macro_rules! label {
    () => {
        r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?"
    };
}
macro_rules! domain {
    () => {
        concat!(label!(), r"(\.", label!(), r")*")
    };
}
macro_rules! any_label {
    () => {
        r"[A-Za-z0-9]([-A-Za-z0-9]{0,61}[A-Za-z0-9])?"
    };
}
macro_rules! host {
    () => {
        concat!(any_label!(), r"(\.", any_label!(), r")*")
    };
}
macro_rules! port {
    () => {
        r"([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5])"
    };
}
macro_rules! host_port {
    () => {
        concat!(host!(), r"(:", port!(), r")?")
    };
}
macro_rules! user {
    () => {
        r"[A-Za-z_][-A-Za-z0-9_.]{0,31}"
    };
}
macro_rules! qualified {
    () => {
        r"[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
    };
}

pub(super) const CLUSTER_NAME: &str = concat!("^", label!(), "$");
pub(super) const DOMAIN: &str = concat!("^", domain!(), "$");
pub(super) const IPV4: &str = concat!("^", ipv4!(), "$");
pub(super) const CIDR: &str = concat!("^", ipv4!(), "/(3[0-2]|[12]?[0-9])$");
pub(super) const ENDPOINT: &str = concat!("^", host_port!(), "$");
pub(super) const CERTIFICATE_NAME: &str = concat!(r"^(\*\.)?", host!(), "$");
pub(super) const USER: &str = concat!("^", user!(), "$");
pub(super) const BASTION: &str = concat!("^(", user!(), "@)?", host_port!(), "$");
pub(super) const TAINT_KEY: &str = concat!("^(", domain!(), "/)?", qualified!(), "$");
pub(super) const TAINT_VALUE: &str = concat!("^(", qualified!(), ")?$");
pub(super) const PROXY: &str = concat!("^https?://", host_port!(), "/?$");
pub(super) const NO_PROXY: &str = r"^[-A-Za-z0-9.:/*_]+$";
pub(super) const REGISTRY: &str = concat!("^", host_port!(), "(/[a-z0-9][-a-z0-9_.]*)*$");
pub(super) const BINARIES: &str = concat!("^https?://", host_port!(), r"(/[^@\s]*)?$");
pub(super) const VERSION: &str = r"^1\.(35|36|37)(\.(0|[1-9][0-9]{0,3}))?$";
