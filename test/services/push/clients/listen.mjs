// Subscribes to a topic over a WebSocket, which reconnects with the last received ID.
import { WebSocket } from 'ws';

const [port, topic, user, password] = process.argv.slice(2);
const auth = Buffer.from(`Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`).toString('base64url');
let since = 'all';

function listen() {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/${topic}/ws?since=${since}&auth=${auth}`);
  socket.on('message', (data) => {
    const event = JSON.parse(data.toString());
    if (event.event !== 'message') return;
    since = event.id;
    console.log(event.message);
  });
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(listen, 50));
}
listen();
