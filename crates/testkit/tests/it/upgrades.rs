use testkit::{
    Act, FakeServer, Target,
    client::{Upgraded, upgrade},
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

#[tokio::test]
async fn echoes_until_the_end_then_says_bye() {
    let server = FakeServer::builder().start().await;
    server.act("/exec", Act::UpgradeEcho);
    let target = Target::clear(server.address());
    let headers = [("sec-websocket-protocol", "v5.channel.k8s.io")];
    let Upgraded::Accepted { mut io, headers } =
        upgrade(&target, "/exec", "websocket", &headers).await.unwrap()
    else {
        panic!("refused");
    };
    assert_eq!(headers["sec-websocket-protocol"], "v5.channel.k8s.io");
    let sent = vec![7; 1 << 20];
    let (mut reader, mut writer) = tokio::io::split(&mut io);
    let (wrote, received) = tokio::join!(
        async {
            writer.write_all(&sent).await?;
            writer.shutdown().await
        },
        async {
            let mut all = Vec::new();
            reader.read_to_end(&mut all).await.map(|_| all)
        }
    );
    wrote.unwrap();
    let received = received.unwrap();
    assert_eq!((received.len(), &received[sent.len()..]), (sent.len() + 3, &b"bye"[..]));
}

#[tokio::test]
async fn refuses_with_a_status() {
    let server = FakeServer::builder().start().await;
    server.act("/", Act::UpgradeRefuse);
    let refused = upgrade(&Target::clear(server.address()), "/exec", "SPDY/3.1", &[]).await.unwrap();
    let Upgraded::Refused(reply) = refused else { panic!("accepted") };
    assert_eq!((reply.status.as_u16(), reply.json()["reason"].as_str()), (403, Some("Forbidden")));
}
