//! Hosts for which this machine stands: a real sshd for each, and a root folder of its own with a shell and coreutils.

mod drift;
mod hostile;
mod interrupted;
mod laid;
mod preflight;
mod random;
mod removed;
mod ssh;
mod support;
