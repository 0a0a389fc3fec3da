// Stores a key of notifications when its parent sends a message, and ends without waiting for the answer.
import { connect } from 'node:net';
import process from 'node:process';

process.once('message', () => {
  const [base, key] = process.argv.slice(2);
  const body = JSON.stringify({ urls: 'json://192.0.2.1/', format: 'text' });
  const head =
    `POST /add/${key} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  const socket = connect(Number(new URL(base).port), '127.0.0.1', () => {
    socket.write(head + body, () => process.exit());
  });
});
