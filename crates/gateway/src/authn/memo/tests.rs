use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;

const LONG: Duration = Duration::from_secs(60);

fn key(number: u32) -> Key {
    let mut key = [0; 32];
    key[..4].copy_from_slice(&number.to_be_bytes());
    key
}

#[tokio::test]
async fn many_who_ask_at_once_cost_one_question() {
    let memo = Arc::new(Memo::new(16, 16));
    let asked = Arc::new(AtomicUsize::new(0));
    let (open, gate) = tokio::sync::watch::channel(false);
    let mut callers = Vec::new();
    for _ in 0..20 {
        let (memo, asked, mut gate) = (memo.clone(), asked.clone(), gate.clone());
        callers.push(tokio::spawn(async move {
            memo.get_or(key(1), async move {
                asked.fetch_add(1, Ordering::SeqCst);
                let _ = gate.wait_for(|open| *open).await;
                ("answer", LONG)
            })
            .await
        }));
    }
    // The first caller leaves; the others still get the answer.
    tokio::task::yield_now().await;
    callers.remove(0).abort();
    open.send(true).unwrap();
    for caller in callers {
        assert_eq!(caller.await.unwrap(), Ok("answer"));
    }
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(memo.known(&key(1)), Some("answer"));
}

#[tokio::test]
async fn an_answer_that_is_no_longer_good_is_asked_again() {
    let memo = Memo::new(16, 16);
    assert_eq!(memo.get_or(key(1), async { (1, Duration::ZERO) }).await, Ok(1));
    assert_eq!(memo.known(&key(1)), None);
    assert_eq!(memo.get_or(key(1), async { (2, LONG) }).await, Ok(2));
    assert_eq!(memo.get_or(key(1), async { (3, LONG) }).await, Ok(2));
}

#[tokio::test]
async fn work_that_panics_is_lost_and_not_remembered() {
    let memo: Memo<u8> = Memo::new(16, 16);
    assert_eq!(memo.get_or(key(1), async { panic!("as planned") }).await, Err(NoAnswer::Lost));
    assert_eq!(memo.get_or(key(1), async { (7, LONG) }).await, Ok(7));
}

#[tokio::test]
async fn questions_on_their_way_are_bounded() {
    let memo: Arc<Memo<u8>> = Arc::new(Memo::new(16, 2));
    let waiting: Vec<_> = (0..2)
        .map(|number| {
            let memo = memo.clone();
            tokio::spawn(async move { memo.get_or(key(number), std::future::pending()).await })
        })
        .collect();
    tokio::task::yield_now().await;
    assert_eq!(memo.get_or(key(9), async { (1, LONG) }).await, Err(NoAnswer::Busy));
    waiting.iter().for_each(tokio::task::JoinHandle::abort);
}

#[test]
fn size_is_bounded_and_what_is_used_stays() {
    let memo = Memo::new(100, 1);
    memo.remember(key(0), 0, LONG);
    for number in 1..10_000 {
        memo.remember(key(number), number, LONG);
        assert_eq!(memo.known(&key(0)), Some(0), "used after {number} others came");
    }
    let shelves = lock(&memo.shelves);
    assert!(shelves.newer.len() + shelves.older.len() <= 101);
}
