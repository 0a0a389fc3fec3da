import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A provider that is signed in to in a browser: its page leads back with a code, which is changed for a token. */
export interface Provider extends AsyncDisposable {
  /** What a remote is told so that it asks here. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Bodies by which codes were changed for tokens. */
  readonly exchanged: readonly string[];
  /** Whoever comes to its page says no. */
  denies: boolean;
}

/**
 * The engine hears of a sign-in on port 53682 and no other, so that only one test of the machine can sign in at a time: the
 * one that holds the port before it.
 */
const turnPort = 53_681;

async function takeTurn(): Promise<Server> {
  for (;;) {
    const turn = createTcpServer().listen(turnPort, '127.0.0.1');
    try {
      await once(turn, 'listening');
      return turn;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EADDRINUSE')) throw error;
      await pause(200);
    }
  }
}

/** Opens one on a free port, once no other test signs in to one. */
export async function openProvider(): Promise<Provider> {
  const turn = await takeTurn();
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
      turn.close();
    },
  };
  return provider;
}
