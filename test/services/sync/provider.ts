import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A provider that is signed in to in a browser: its page leads back with a code, which is changed for a token. */
export interface Provider extends AsyncDisposable {
  /** What a remote is told so that it asks here. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Bodies by which codes were changed for tokens. */
  readonly exchanged: readonly string[];
  /** Whoever comes to its page says no. */
  denies: boolean;
}

/** Opens one on a free port. */
export async function openProvider(): Promise<Provider> {
  const exchanged: string[] = [];
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    if (url.pathname === '/auth') {
      const back = new URL(url.searchParams.get('redirect_uri') ?? '');
      back.searchParams.set('state', url.searchParams.get('state') ?? '');
      back.searchParams.set(provider.denies ? 'error' : 'code', provider.denies ? 'access_denied' : 'c0de');
      return void response.writeHead(302, { location: back.href }).end();
    }
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.once('end', () => {
      exchanged.push(body);
      const token = { access_token: 'golden-ticket', refresh_token: 'again', token_type: 'bearer', expires_in: 3600 };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(token));
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const provider: Provider = {
    parameters: { client_id: 'ours', client_secret: 'hush-hush', auth_url: `${url}/auth`, token_url: `${url}/token` },
    exchanged,
    denies: false,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
  return provider;
}
