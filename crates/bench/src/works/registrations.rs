//! Two hundred servers: how long to register them, what they cost, how fast a restart is.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::Result;
use bytes::Bytes;
use http::{Method, StatusCode};
use http_body_util::BodyExt;

use crate::{
    DoorArgs,
    client::{Connection, Http},
    peers::{Door, Lab, free_ports},
    report::{Goal, Report},
    stats::estimate,
};

const SERVERS: u16 = 200;
const EXTRA: u16 = 15;

/// Registration, standing cost and restart with 200 servers of 64 kB OpenAPI each.
pub async fn run(lab: &Lab, args: &DoorArgs, report: &mut Report) -> Result<()> {
    let first = free_ports(SERVERS + EXTRA)?;
    let half = SERVERS / 2;
    let address = |number: u16| SocketAddr::new(first.ip(), first.port() + number);
    let hanging = (SERVERS - 1).to_string();
    let half_text = half.to_string();
    let upper_count = (half + EXTRA).to_string();
    let half_servers = ["--servers", half_text.as_str()];
    let _lower = lab.backend("lower", address(0), &half_servers)?;
    let upper_args =
        ["--servers", upper_count.as_str(), "--first", half_text.as_str(), "--hanging", hanging.as_str()];
    let upper = lab.backend("upper", address(half), &upper_args)?;
    lab.admin(address(0))?.wait("/apis", Duration::from_secs(10)).await?;
    lab.admin(address(half))?.wait("/apis", Duration::from_secs(10)).await?;

    let door = Door::start(lab, &args.trellis, "many").await?;
    let empty = door.process.usage()?;
    let mut client = door.target.connect(Http::Two).await?;
    let start = Instant::now();
    for number in 0..SERVERS {
        door.register_over(&mut client, lab, &format!("s{number}"), &[address(number)]).await?;
    }
    let stored = start.elapsed().as_secs_f64();
    wait_for_groups(&mut client, usize::from(SERVERS) - 1).await?;
    let visible = start.elapsed().as_secs_f64();
    let spent = door.process.usage()?.cpu_seconds - empty.cpu_seconds;
    report.figure("200 servers: answers to the registrations", stored, "s", Goal::None);
    report.figure("200 servers: CPU of the door until visible", spent, "s", Goal::None);
    report.figure("200 servers: registered and visible", visible, "s", Goal::AtMost(1.0));

    tokio::time::sleep(Duration::from_secs(5)).await;
    let settled = door.process.usage()?;
    tokio::time::sleep(Duration::from_secs(20)).await;
    let rested = door.process.usage()?;
    let grown = (rested.memory_kb - empty.memory_kb) / 1024.0;
    report.figure("200 servers: memory", grown, "MiB", Goal::AtMost(20.0));
    let idle = (rested.cpu_seconds - settled.cpu_seconds) / 20.0 * 100.0;
    report.figure("200 servers: idle CPU of one core", idle, "%", Goal::AtMost(0.5));

    let mut visible = Vec::new();
    for number in SERVERS..SERVERS + EXTRA {
        let path = format!("/apis/g{number}.bench.example.com/v1/namespaces/default/items/a");
        let start = Instant::now();
        door.register_over(&mut client, lab, &format!("s{number}"), &[address(number)]).await?;
        wait_for(&mut client, &path).await?;
        visible.push(start.elapsed().as_secs_f64() * 1000.0);
    }
    report.figure(
        "register to first 200, one of 200 hanging",
        estimate(&visible).median,
        "ms",
        Goal::AtMost(50.0),
    );

    drop(upper);
    let mut door = door;
    door.process.stop()?;
    let mut ready = Vec::new();
    let mut memory = 0.0;
    for _ in 0..5 {
        let mut door = Door::start(lab, &args.trellis, "many").await?;
        ready.push(door.ready_after.as_secs_f64() * 1000.0);
        tokio::time::sleep(Duration::from_secs(2)).await;
        memory = door.process.usage()?.memory_kb / 1024.0;
        let mut client = door.target.connect(Http::Two).await?;
        wait_for_groups(&mut client, usize::from(SERVERS) - 1).await?;
        door.process.stop()?;
    }
    report.figure(
        "start to ready, 200 servers, half dead",
        estimate(&ready).median,
        "ms",
        Goal::AtMost(100.0),
    );
    report.figure("memory after a start with 200 servers", memory, "MiB", Goal::AtMost(30.0));
    Ok(())
}

/// Waits until the summary holds that many of the benchmark's groups.
async fn wait_for_groups(client: &mut Connection, wanted: usize) -> Result<()> {
    let start = Instant::now();
    loop {
        let (_, body) = get(client, "/apis").await?;
        let text = String::from_utf8_lossy(&body);
        let seen = text.matches(".bench.example.com\",\"versions\"").count();
        if seen >= wanted {
            return Ok(());
        }
        anyhow::ensure!(start.elapsed() < Duration::from_secs(30), "{seen} of {wanted} groups are visible");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

/// Waits for the first 200.
async fn wait_for(client: &mut Connection, path: &str) -> Result<()> {
    let start = Instant::now();
    while get(client, path).await?.0 != StatusCode::OK {
        anyhow::ensure!(start.elapsed() < Duration::from_secs(30), "{path} does not answer");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    Ok(())
}

async fn get(client: &mut Connection, path: &str) -> Result<(StatusCode, Bytes)> {
    let response = client.send(Method::GET, path, None).await?;
    Ok((response.status(), response.into_body().collect().await?.to_bytes()))
}
