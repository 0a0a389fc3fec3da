import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';

/** A port that was free a moment ago, for what has to be told its port or come back on the same one. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
