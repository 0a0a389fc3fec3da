import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createRequire } from 'node:module';

/** The decryption browsers do, RFC 8188 and 8291. */
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

/** A push service as a browser's vendor runs one: takes encrypted messages, checks who signed, answers as told. */
export async function openPushService() {
  const received: Received[] = [];
  const answers: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      received.push({ path: request.url ?? '', headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(answers.shift() ?? 201, { 'retry-after': '1' }).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    received,
    answers,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** A browser's keys, and how it reads what reached it. */
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
