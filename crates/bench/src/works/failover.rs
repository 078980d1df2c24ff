//! One server with two endpoints: one is killed and comes back, later one stops answering.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use anyhow::Result;
use http::{Method, StatusCode};

use crate::{
    DoorArgs,
    client::{Connection, Http, Target},
    peers::{Door, Lab, free_ports},
    report::{Goal, Report},
};

const ITEM: &str = "/apis/g0.bench.example.com/v1/namespaces/default/items/a";
const LENGTH: Duration = Duration::from_secs(60);
const INTERVAL: Duration = Duration::from_millis(1);

/// 60 s of GETs at 1,000/s over two endpoints with three events.
pub async fn run(lab: &Lab, args: &DoorArgs, report: &mut Report) -> Result<()> {
    let first = free_ports(2)?;
    let second = SocketAddr::new(first.ip(), first.port() + 1);
    let mut one = lab.backend("one", first, &[])?;
    let two = lab.backend("two", second, &[])?;
    for address in [first, second] {
        lab.admin(address)?.wait(ITEM, Duration::from_secs(10)).await?;
    }
    let door = Door::start(lab, &args.trellis, "failover").await?;
    door.register(lab, "bench", &[first, second]).await?;
    door.target.wait(ITEM, Duration::from_secs(10)).await?;

    let start = Instant::now();
    let load = tokio::spawn(load(door.target.clone(), start));
    tokio::time::sleep(Duration::from_secs(10)).await;
    one.kill();
    let killed = start.elapsed();
    tokio::time::sleep(Duration::from_secs(10)).await;
    one = lab.backend("one-again", first, &[])?;
    tokio::time::sleep(Duration::from_secs(15)).await;
    two.signal("STOP")?;
    let stopped = start.elapsed();
    let outcomes = load.await?;
    two.signal("CONT")?;
    drop(one);

    let failed = outcomes.iter().filter(|outcome| !outcome.good).count();
    let late = |event: Duration| {
        let from = event + Duration::from_secs(2);
        outcomes
            .iter()
            .filter(|o| !o.good && o.sent > from && o.sent < event + Duration::from_secs(10))
            .count()
    };
    let share = failed as f64 / outcomes.len() as f64 * 100.0;
    report.figure("two endpoints, kill and stop: errors", share, "%", Goal::AtMost(0.1));
    let late = late(killed) + late(stopped);
    report.figure(
        "two endpoints: errors sent 2 s after an event or later",
        late as f64,
        "errors",
        Goal::AtMost(0.0),
    );
    Ok(())
}

struct Outcome {
    sent: Duration,
    good: bool,
}

/// An open loop: a request each millisecond over 16 connections, whatever became of the others.
async fn load(target: Target, start: Instant) -> Vec<Outcome> {
    let workers = (0..16u32).map(|number| tokio::spawn(worker(target.clone(), start, number)));
    let mut outcomes = Vec::new();
    for worker in workers.collect::<Vec<_>>() {
        outcomes.extend(worker.await.unwrap_or_default());
    }
    outcomes
}

async fn worker(target: Target, start: Instant, number: u32) -> Vec<Outcome> {
    let mut ticks = tokio::time::interval(INTERVAL * 16);
    tokio::time::sleep(INTERVAL * number).await;
    let mut pending = Vec::new();
    let mut connection = None;
    while start.elapsed() < LENGTH {
        ticks.tick().await;
        let lost = |kept: &Connection| matches!(kept, Connection::Two(sender) if sender.is_closed());
        if connection.as_ref().is_none_or(lost) {
            connection = target.connect(Http::Two).await.ok();
        }
        let Some(Connection::Two(sender)) = &connection else { continue };
        let mut once = Connection::Two(sender.clone());
        pending.push(tokio::spawn(async move {
            let sent = start.elapsed();
            let answer =
                tokio::time::timeout(Duration::from_secs(5), once.send(Method::GET, ITEM, None)).await;
            Outcome { sent, good: matches!(answer, Ok(Ok(response)) if response.status() == StatusCode::OK) }
        }));
    }
    let mut outcomes = Vec::with_capacity(pending.len());
    for request in pending {
        outcomes.extend(request.await);
    }
    outcomes
}
