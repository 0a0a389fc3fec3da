import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Program of the household that the services connect to. */
export interface StandIn extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
}

/** Listens on loopback at the usual port of the replaced program, or at a free one when that is occupied. */
export async function openStandIn(usual: number, answer: RequestListener): Promise<StandIn> {
  const server = createServer(answer);
  const listen = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      server.once('error', reject).listen(port, '127.0.0.1', () => {
        server.off('error', reject);
        resolve();
      });
    });
  await listen(usual).catch(() => listen(0));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${String(port)}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
