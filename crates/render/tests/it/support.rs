//! Objects and their trees.

use cluster_spec::{HostFacts, Resolved};
use render::{Deploy, NoKeys, Tree, render};

/// Two hosts, nothing else said.
pub const PLAIN: &str =
    "name: demo\nhosts:\n- {name: cp1, address: 192.168.7.1}\n- {name: n1, address: 192.168.7.2}\n";

pub fn resolve(object: &str) -> Resolved {
    let cluster = cluster_spec::read(object, None).unwrap_or_else(|found| panic!("{object}\n{found:#?}"));
    cluster.resolve()
}

pub fn trees_of(resolved: &Resolved) -> Vec<Tree> {
    let deploy = Deploy::embedded();
    let facts = HostFacts::default();
    let tree =
        |host| render(&deploy, resolved, host, &facts, &NoKeys).unwrap_or_else(|error| panic!("{error}"));
    resolved.hosts.iter().map(tree).collect()
}

pub fn trees(object: &str) -> Vec<Tree> {
    trees_of(&resolve(object))
}

pub fn text(file: &render::File) -> String {
    String::from_utf8(file.contents.clone()).expect("text")
}
