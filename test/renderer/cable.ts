import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** The way from a page to the host, which a test can cut. */
export interface Cable extends AsyncDisposable {
  readonly url: string;
  /** Ends all connections and refuses new ones. */
  cut(): void;
  /** Lets new connections through again, to another host if given. */
  mend(target?: string): void;
}

export async function layCable(target: string): Promise<Cable> {
  let aim: string | undefined = target;
  const sockets = new Set<Socket>();
  const keep = (socket: Socket): void => {
    sockets.add(socket);
    // Either end may go at any moment: that is what this is for.
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
    mend(next = target) {
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
