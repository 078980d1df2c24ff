//! Memory of idle proxied watches, and how much of it comes back.

use std::time::Duration;

use anyhow::Result;
use http::Method;
use http_body_util::BodyExt;
use hyper::body::Incoming;

use crate::{
    DoorArgs,
    client::{Connection, Http, Target},
    peers::{Buffering, Door, Lab, Nginx, free_ports},
    process::Process,
    report::{Goal, Report},
};

const WATCHES: usize = 9000;
const STREAMS_PER_CONNECTION: usize = 100;
const PATH: &str = "/apis/g0.bench.example.com/v1/items?watch=true";
const READY: &str = "/apis/g0.bench.example.com/v1/namespaces/default/items/a";

/// 9,000 watches through the door over both versions of HTTP, and through nginx for comparison.
pub async fn run(lab: &Lab, args: &DoorArgs, report: &mut Report) -> Result<()> {
    let address = free_ports(1)?;
    let _backend = lab.backend("watched", address, &[])?;
    lab.admin(address)?.wait(READY, Duration::from_secs(10)).await?;
    for (http, goal) in [(Http::One, 16.0), (Http::Two, 3.0)] {
        let door = Door::start(lab, &args.trellis, &format!("watches-{http}")).await?;
        door.register(lab, "bench", &[address]).await?;
        door.target.wait(READY, Duration::from_secs(10)).await?;
        let found = hold(&door.process, &door.target, http).await?;
        report.figure(
            &format!("idle watch, {http}: memory of the door"),
            found.each_kb,
            "kB",
            Goal::AtMost(goal),
        );
        report.figure(
            &format!("idle watch, {http}: given back"),
            found.given_back,
            "share",
            Goal::AtLeast(0.8),
        );

        let nginx = Nginx::start(lab, address, Buffering::Off, READY).await?;
        let found = hold(&nginx.process, &nginx.target, http).await?;
        report.figure(&format!("idle watch, {http}: memory of nginx"), found.each_kb, "kB", Goal::None);
    }
    Ok(())
}

struct Held {
    each_kb: f64,
    given_back: f64,
}

async fn hold(process: &Process, target: &Target, http: Http) -> Result<Held> {
    let before = process.usage()?.memory_kb;
    let mut watches = Vec::new();
    let mut opened = 0;
    let each = if http == Http::One { 1 } else { STREAMS_PER_CONNECTION };
    while opened < WATCHES {
        let mut connection = target.connect(http).await?;
        let mut bodies = Vec::with_capacity(each);
        for _ in 0..each {
            bodies.push(open(&mut connection).await?);
        }
        watches.push((connection, bodies));
        opened += each;
    }
    tokio::time::sleep(Duration::from_secs(3)).await;
    let during = process.usage()?.memory_kb;
    drop(watches);
    let mut after = during;
    for _ in 0..30 {
        tokio::time::sleep(Duration::from_secs(1)).await;
        after = process.usage()?.memory_kb.min(after);
    }
    let grown = during - before;
    Ok(Held { each_kb: grown / WATCHES as f64, given_back: (during - after) / grown })
}

/// Starts a watch and reads its first event.
async fn open(connection: &mut Connection) -> Result<Incoming> {
    let mut body = connection.send(Method::GET, PATH, None).await?.into_body();
    body.frame().await.transpose()?;
    Ok(body)
}
