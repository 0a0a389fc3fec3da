import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTcpServer, type AddressInfo, type Server } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** OAuth provider with a sign-in page that redirects back with a code, which is exchanged for a token. */
export interface Provider extends AsyncDisposable {
  /** Options of a remote that uses this provider. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Bodies of the token requests. */
  readonly exchanged: readonly string[];
  /** Denies the consent of the next visitor of the sign-in page. */
  denies: boolean;
}

/**
 * Port before the engine's fixed sign-in port 53682. Only one test at a time can sign in: the one that listens on this
 * port.
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

/** Opens a provider on a free port after other tests with a sign-in have ended. */
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
