import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy between a page and the host that a test can interrupt. */
export interface Cable extends AsyncDisposable {
  readonly url: string;
  /** Closes all connections and refuses new ones. */
  cut(): void;
  /** Accepts connections again, optionally for another host. */
  resume(target?: string): void;
}

export async function layCable(target: string): Promise<Cable> {
  let aim: string | undefined = target;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    // Both ends may disconnect at any time, as intended by the test.
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((near) => {
    keep(near);
    if (aim === undefined) {
      near.destroy();
      return;
    }
    const { hostname, port } = new URL(aim);
    const far = connect(Number(port), hostname);
    keep(far);
    near.pipe(far);
    far.pipe(near);
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const end = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`,
    cut() {
      aim = undefined;
      end();
    },
    resume(next = target) {
      aim = next;
    },
    async [Symbol.asyncDispose]() {
      end();
      const closed = once(server, 'close');
      server.close();
      await closed;
    },
  };
}
