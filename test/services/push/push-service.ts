import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';

/** Decryption as done by browsers, RFC 8188 and 8291. */
const { decrypt } = createRequire(import.meta.url)('http_ece') as {
  readonly decrypt: (
    body: Buffer,
    options: { readonly version: 'aes128gcm'; readonly privateKey: unknown; readonly authSecret: string },
  ) => Buffer;
};

export interface Received {
  readonly path: string;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly body: Buffer;
}

/** Browser push service that receives encrypted messages, verifies the signature and responds as configured. */
export async function openPushService() {
  const received: Received[] = [];
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(statuses.shift() ?? 201, { 'retry-after': '1' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    received,
    answers: statuses,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Keys of a browser, and decryption of its messages. */
export function newBrowser(origin: string, name = 'one') {
  const curve = createECDH('prime256v1');
  const p256dh = curve.generateKeys('base64url');
  const auth = randomBytes(16).toString('base64url');
  return {
    endpoint: `${origin}/${name}`,
    keys: { auth, p256dh },
    open: ({ body }: Received) =>
      JSON.parse(decrypt(body, { version: 'aes128gcm', privateKey: curve, authSecret: auth }).toString()),
  };
}
