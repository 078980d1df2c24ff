//! Finding the door as kubectl finds its cluster.

use std::path::{Path, PathBuf};

use kube::{
    Config,
    config::{KubeConfigOptions, Kubeconfig},
};

use crate::{
    args::DoorArgs,
    exit::{Code, Outcome, Problem, chain},
};

/// The configuration of a client, from `--kubeconfig`, KUBECONFIG or the home folder.
pub(super) async fn load(args: &DoorArgs) -> Outcome<Config> {
    let files = files(args);
    let named = files.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(", ");
    let wrong = |cause: &dyn std::error::Error| {
        Problem::new(Code::Input, format!("cannot use the kubeconfig {named}: {}", chain(cause)))
            .next("check the file, or name another one with --kubeconfig or KUBECONFIG")
    };
    let present: Vec<&PathBuf> = if args.kubeconfig.is_some() {
        files.iter().collect()
    } else {
        files.iter().filter(|path| path.exists()).collect()
    };
    if present.is_empty() {
        let what = if named.is_empty() {
            "there is no home folder to look in".to_owned()
        } else {
            format!("{named} is not there")
        };
        return Err(Problem::new(Code::Input, format!("cannot find the door: {what}"))
            .next("start one with `trellis up`, or name its kubeconfig with --kubeconfig or KUBECONFIG"));
    }
    let mut merged = Kubeconfig::default();
    for path in present {
        merged =
            Kubeconfig::read_from(path).and_then(|next| merged.merge(next)).map_err(|error| wrong(&error))?;
    }
    let options = KubeConfigOptions { context: args.context.clone(), ..KubeConfigOptions::default() };
    let mut config = Config::from_custom_kubeconfig(merged, &options).await.map_err(|error| wrong(&error))?;
    // A person waits, and is told what the door said; trying again is his decision.
    config.default_retry = false;
    config.connect_timeout = Some(std::time::Duration::from_secs(10));
    Ok(config)
}

/// The files to read, first goes before later.
fn files(args: &DoorArgs) -> Vec<PathBuf> {
    if let Some(file) = &args.kubeconfig {
        return vec![file.clone()];
    }
    let listed: Vec<PathBuf> = std::env::var_os("KUBECONFIG")
        .map(|list| std::env::split_paths(&list).filter(|path| !path.as_os_str().is_empty()).collect())
        .unwrap_or_default();
    if !listed.is_empty() {
        return listed;
    }
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    home.map(|home| Path::new(&home).join(".kube").join("config")).into_iter().collect()
}
