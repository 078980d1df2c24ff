//! What others feel while one server of twenty hangs and one is killed.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::Result;

use crate::{
    DoorArgs,
    client::{Connection, Http, burst, connections},
    peers::{Door, Lab, free_ports},
    report::{Goal, Report},
    stats::{estimate, percentile, ratios},
};

const SERVERS: u16 = 20;

/// p99 of the healthy servers' users before and during, round by round. The users of the two victims ask in
/// both phases alike, so that only what becomes of their servers differs.
pub async fn run(lab: &Lab, args: &DoorArgs, report: &mut Report) -> Result<()> {
    let first = free_ports(SERVERS)?;
    let address = |number: u16| SocketAddr::new(first.ip(), first.port() + number);
    let healthy_count = (SERVERS - 2).to_string();
    let _healthy = lab.backend("healthy", address(0), &["--servers", healthy_count.as_str()])?;
    let one =
        |number: u16| lab.backend(&format!("n{number}"), address(number), &["--first", &number.to_string()]);
    let (hanging, mut killed) = (one(SERVERS - 2)?, one(SERVERS - 1)?);
    let door = Door::start(lab, &args.trellis, "neighbours").await?;
    for number in 0..SERVERS {
        lab.admin(address(number))?.wait("/apis", Duration::from_secs(10)).await?;
        door.register(lab, &format!("s{number}"), &[address(number)]).await?;
        door.target.wait(&item(number), Duration::from_secs(10)).await?;
    }
    let mut load = connections(&door.target, Http::Two, 8).await?;
    let victims = (SERVERS - 2..SERVERS).map(|number| disturb(door.target.clone(), item(number)));
    let victims: Vec<_> = victims.map(tokio::spawn).collect();
    let mut quiet = Vec::new();
    let mut disturbed = Vec::new();
    p99(&mut load, 4).await;
    for _ in 0..args.rounds {
        quiet.push(p99(&mut load, 4).await);
        killed.kill();
        hanging.signal("STOP")?;
        disturbed.push(p99(&mut load, 4).await);
        hanging.signal("CONT")?;
        killed = one(SERVERS - 1)?;
        for number in SERVERS - 2..SERVERS {
            door.target.wait(&item(number), Duration::from_secs(20)).await?;
        }
    }
    victims.iter().for_each(tokio::task::JoinHandle::abort);
    report.figure("others' p99 with all servers well", estimate(&quiet).median, "ms", Goal::None);
    report.ratio(
        "others' p99 while one hangs and one is killed",
        ratios(&disturbed, &quiet),
        Goal::AtMost(1.1),
    );
    Ok(())
}

fn item(number: u16) -> String {
    format!("/apis/g{number}.bench.example.com/v1/namespaces/default/items/a")
}

/// Asks a dead server again and again, as its users would.
async fn disturb(target: crate::client::Target, path: String) {
    loop {
        let start = Instant::now();
        let once = target.request(http::Method::GET, &path, None);
        tokio::time::timeout(Duration::from_secs(5), once).await.ok();
        tokio::time::sleep(Duration::from_millis(50).saturating_sub(start.elapsed())).await;
    }
}

/// The 99th percentile over the healthy servers' objects and the OpenAPI index, in milliseconds.
async fn p99(load: &mut [Connection], repeats: usize) -> f64 {
    let mut latencies = Vec::new();
    for _ in 0..repeats {
        for number in 0..SERVERS - 2 {
            latencies.extend(burst(load, &item(number), 64).await.latencies);
        }
        latencies.extend(burst(load, "/openapi/v3", 64).await.latencies);
    }
    percentile(&mut latencies, 0.99) * 1000.0
}
