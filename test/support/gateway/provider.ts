import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer, request } from 'node:https';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { Provider } from 'oidc-provider';
import { makeSelfSigned } from '../self-signed.ts';

/** Claims that the provider issues for this subject. */
export type People = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Real OpenID provider on this computer, whose sign-in page accepts any password. */
export interface TestProvider extends AsyncDisposable {
  readonly issuer: string;
  readonly client: { readonly id: string; readonly secret: string };
  /** Signs in and consents as a user does, and returns the address of the final redirect. */
  signIn(url: string, subject: string): Promise<string>;
  /** Cancels on the sign-in page and returns the address of the final redirect. */
  giveUp(url: string): Promise<string>;
}

export async function openProvider(redirectUris: readonly string[], people: People): Promise<TestProvider> {
  const server = createServer(makeSelfSigned()).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `https://localhost:${String((server.address() as AddressInfo).port)}`;
  const client = { id: 'homeport', secret: 'a secret of the provider' };
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: client.id, client_secret: client.secret },
        redirect_uris: [...redirectUris],
      },
    ],
    claims: {
      openid: ['sub'],
      profile: ['preferred_username'],
      email: ['email', 'email_verified'],
      groups: ['groups', 'realm_access'],
    },
    scopes: ['openid', 'profile', 'email', 'groups'],
    // Without these options the provider warns about its defaults.
    ttl: { Interaction: 600, Session: 600, Grant: 600, AccessToken: 600, AuthorizationCode: 60, IdToken: 600 },
    jwks: {
      keys: [
        { ...generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' }), use: 'sig' },
      ],
    },
    cookies: { keys: ['only for a test'] },
    findAccount: (_context, subject) => ({
      accountId: subject,
      claims: () => ({ sub: subject, ...people[subject] }),
    }),
  });
  const answer = provider.callback();
  server.on('request', (outgoing, response) => void answer(outgoing, response));

  return {
    issuer,
    client,
    async signIn(url, subject) {
      const browser = new SmallBrowser(issuer);
      const login = await browser.open(url);
      const consent = await browser.open(findFormAction(login.body), {
        prompt: 'login',
        login: subject,
        password: 'any',
      });
      return (await browser.open(findFormAction(consent.body), { prompt: 'consent' })).leaves;
    },
    async giveUp(url) {
      const browser = new SmallBrowser(issuer);
      const { body } = await browser.open(url);
      const abort = /href="([^"]+\/abort)"/.exec(body)?.[1] ?? '';
      return (await browser.open(abort)).leaves;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function findFormAction(page: string): string {
  return /action="([^"]+)"/.exec(page)?.[1] ?? '';
}

/** Follows redirects within one site with its cookies, and returns the first address of another site. */
class SmallBrowser {
  readonly #site: string;
  readonly #cookies = new Map<string, string>();

  constructor(site: string) {
    this.#site = site;
  }

  async open(to: string, form?: Readonly<Record<string, string>>): Promise<{ body: string; leaves: string }> {
    let [url, fields] = [new URL(to, this.#site), form];
    for (;;) {
      if (url.origin !== this.#site) return { body: '', leaves: url.href };
      const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const outgoing = request(url, {
        ...{ method: fields === undefined ? 'GET' : 'POST', rejectUnauthorized: false, agent: false },
        headers: { Cookie: cookie, ...(fields && { 'Content-Type': 'application/x-www-form-urlencoded' }) },
      }).end(fields && new URLSearchParams(fields).toString());
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      for (const entry of response.headers['set-cookie'] ?? []) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(entry) ?? [];
        if (value === '') this.#cookies.delete(name);
        else this.#cookies.set(name, value);
      }
      const body = await text(response);
      if (response.headers.location === undefined) return { body, leaves: '' };
      [url, fields] = [new URL(response.headers.location, url), undefined];
    }
  }
}
