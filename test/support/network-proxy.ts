import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** TCP proxy that can stop to forward data without closing connections, as a network does that drops packets. */
export interface NetworkProxy extends AsyncDisposable {
  /** The address with the host and the port of the proxy. */
  readonly url: string;
  /** Forwards nothing more over the connections that are open; new ones work. */
  pauseOpen(): void;
  /** Forwards nothing more over open and new connections. */
  pauseAll(): void;
  /** Lets new connections work again. Paused ones remain without data. */
  resume(): void;
}

/** Opens a proxy to the server of an address. */
export async function openNetworkProxy(address: string): Promise<NetworkProxy> {
  const target = new URL(address);
  const sockets = new Set<Socket>();
  let isPaused = false;
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => sockets.delete(socket));
    }
    client.pipe(upstream).pipe(client);
    if (isPaused) pause([client, upstream]);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    pauseOpen: () => pause(sockets),
    pauseAll() {
      isPaused = true;
      pause(sockets);
    },
    resume: () => void (isPaused = false),
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function pause(sockets: Iterable<Socket>): void {
  for (const socket of sockets) socket.unpipe().pause();
}
