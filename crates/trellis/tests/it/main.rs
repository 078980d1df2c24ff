//! The binary as people use it: started, asked, stopped.

mod cluster;
mod cluster_hosts;
mod config_check;
mod example;
mod exit_codes;
mod program;
mod published;
mod register;
mod serve;
mod up;
