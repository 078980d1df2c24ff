//! From objects to files.

mod errors;
mod explained;
mod golden;
mod kubeadm;
mod support;
mod transparency;
mod well_formed;
