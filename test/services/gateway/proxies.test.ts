import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { api } from '../../support/api.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { freePort } from '../../support/free-port.ts';
import { lan, openHome, phoneAddress, type Answer, type Home } from '../../support/gateway/phone.ts';
import { admin, adminAuthorization } from '../../support/host.ts';
import { toolPath } from '../../support/tools.ts';
import { isMissing } from '../../support/requirements.ts';

const lamp = fixtureService('lamp', (context) => ({
  http: (request, response) => {
    const authentication = context.accounts.authenticate({ ...context.caller(request) });
    void authentication.then((identity) => response.end(`lamp of ${identity?.account ?? 'nobody'}`));
  },
}));
const services = [lamp, control, gateway];
let home: Home;
beforeAll(async () => {
  home = await openHome({
    services,
    settings: { shared: ['lamp'] },
    environment: { HOMEPORT_TRUSTED_PROXIES: `${phoneAddress},127.0.0.1`, HOMEPORT_ALLOWED_HOSTS: 'photos.example' },
  });
});
afterAll(() => home[Symbol.asyncDispose]());
const sendRequest = (path: string, headers: Record<string, string> = {}): Promise<Answer> =>
  home.ask(`https://nas.local${path}`, { headers });

describe('forward auth', () => {
  it('returns the account of a session or token, or rejects the request', async () => {
    expect((await sendRequest('/.homeport/verify')).status).toBe(401);
    const verified = await sendRequest('/api/verify', { Authorization: adminAuthorization });
    expect([verified.status, verified.headers['remote-user'], verified.headers['remote-groups']]).toEqual([
      200,
      'ada',
      'admin',
    ]);
    const account = { name: 'bob', password: 'long enough' };
    await api(home.host.url('control'), '/api/accounts', { method: 'POST', body: JSON.stringify(account) });
    const bob = { Authorization: `Basic ${Buffer.from('bob:long enough').toString('base64')}` };
    expect((await sendRequest('/.homeport/verify', bob)).headers['remote-user']).toBe('bob');
    expect((await sendRequest('/.homeport/verify?service=lamp', bob)).status).toBe(403);
  });

  it('redirects to the sign-in of the requested host only', async () => {
    const forwarded = { 'X-Forwarded-Host': 'photos.example', 'X-Forwarded-Uri': '/album?id=1', Accept: 'text/html' };
    const redirect = await sendRequest('/.homeport/verify', forwarded);
    expect([redirect.status, redirect.headers.location]).toEqual([
      302,
      'https://photos.example/.homeport/sign-in?to=%2Falbum%3Fid%3D1',
    ]);
    const evil = await sendRequest('/.homeport/verify', { ...forwarded, 'X-Forwarded-Uri': '//evil.example/' });
    expect(evil.headers.location).toBe('https://photos.example/.homeport/sign-in?to=%2F');
    // In nginx's format the query of the page is not part of the sign-in query.
    const page = await sendRequest('/.homeport/sign-in?to=/list?a=1&b=2%26c', { Accept: 'text/html' });
    expect(page.body).toContain('value="/list?a=1&amp;b=2%26c"');
    // Programs receive a status instead of a redirect.
    expect((await sendRequest('/.homeport/verify', { ...forwarded, Accept: '*/*' })).status).toBe(401);
  });
});

describe('a trusted proxy that replaces the Host header', () => {
  const front = { 'X-Forwarded-Host': 'photos.example', 'X-Forwarded-Proto': 'https' };
  const signIn = async (): Promise<string> => {
    const { headers } = await home.ask('https://nas.local/.homeport/sign-in', {
      method: 'POST',
      headers: { ...front, 'Content-Type': 'application/x-www-form-urlencoded', Origin: 'https://photos.example' },
      body: new URLSearchParams({ name: admin.name, password: admin.password, to: '/' }).toString(),
    });
    return headers['set-cookie']?.[0]?.split(';')[0] ?? '';
  };

  it('ends the session with the sign-out of the address that it reports', async () => {
    const headers = { ...front, Cookie: await signIn(), Origin: 'https://photos.example' };
    expect((await sendRequest('/.homeport/verify', headers)).status).toBe(200);
    const out = await home.ask('https://nas.local/.homeport/sign-out', { method: 'POST', headers });
    expect(out.status).toBe(303);
    expect((await sendRequest('/.homeport/verify', headers)).status).toBe(401);
  });

  it('authorizes a WebSocket', async () => {
    const Cookie = await signIn();
    const upgrade = { ...front, Connection: 'Upgrade', Upgrade: 'websocket', 'X-Forwarded-Uri': '/ws' };
    const verified = await sendRequest('/.homeport/verify', { ...upgrade, Cookie });
    expect([verified.status, verified.headers['remote-user']]).toEqual([200, 'ada']);
    expect((await sendRequest('/.homeport/verify', upgrade)).status).toBe(401);
  });

  it('accepts a preflight, and redirects the form of a browser to the sign-in', async () => {
    const preflight = {
      ...front,
      Origin: 'https://app.example',
      'X-Forwarded-Method': 'OPTIONS',
      'Access-Control-Request-Method': 'PUT',
    };
    const passed = await sendRequest('/.homeport/verify', preflight);
    expect([passed.status, passed.headers['remote-user']]).toEqual([200, undefined]);
    expect((await sendRequest('/.homeport/verify', { ...preflight, 'X-Forwarded-Method': 'PUT' })).status).toBe(401);
    const { 'X-Forwarded-Method': _method, ...unreported } = preflight;
    expect((await sendRequest('/.homeport/verify', unreported)).status).toBe(401);
    const direct = { method: 'OPTIONS', headers: unreported };
    expect((await home.ask('https://nas.local/.homeport/verify', direct)).status).toBe(401);
    const twice = { ...preflight, 'X-Forwarded-Method': 'PUT, OPTIONS' };
    expect((await sendRequest('/.homeport/verify', twice)).status).toBe(401);
    const form = { ...front, Accept: 'text/html', 'X-Forwarded-Method': 'POST', 'X-Forwarded-Uri': '/form' };
    const redirect = await sendRequest('/.homeport/verify', form);
    expect([redirect.status, redirect.headers.location]).toEqual([
      303,
      'https://photos.example/.homeport/sign-in?to=%2Fform',
    ]);
  });
});

describe('the sign-in form behind another proxy', () => {
  const gatewayUrl = 'https://nas.local';
  const client = '192.0.2.7';
  /** Signs in, reads the session, submits a form and signs out. Returns the status of each response. */
  const walk = async (headers: Record<string, string>): Promise<readonly number[]> => {
    const page = await sendRequest('/.homeport/sign-in?to=/album', { ...headers, Accept: 'text/html' });
    const form = new URLSearchParams({ name: admin.name, password: admin.password, to: '/album' }).toString();
    const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const post = (path: string, overrides: Record<string, string>, body = ''): Promise<Answer> =>
      home.ask(`${gatewayUrl}${path}`, { method: 'POST', headers: { ...headers, ...type, ...overrides }, body });
    const signed = await post('/.homeport/sign-in', {}, form);
    const Cookie = signed.headers['set-cookie']?.[0]?.split(';')[0] ?? 'none=1';
    const session = await sendRequest('/.homeport/verify', { ...headers, Cookie });
    const out = await post('/.homeport/sign-out', { Cookie });
    const ended = await sendRequest('/.homeport/verify', { ...headers, Cookie });
    return [page.status, signed.status, session.status, out.status, ended.status];
  };
  const works = [200, 303, 200, 303, 401];
  const origin = 'https://photos.example';
  const forwarded = { 'X-Forwarded-Host': 'photos.example', 'X-Forwarded-Proto': 'https' };

  it.each<[string, Record<string, string>]>([
    ['writes the public host', { ...forwarded, Origin: origin }],
    ['passes the Host header', { Host: 'photos.example', 'X-Forwarded-Proto': 'https', Origin: origin }],
    ['reports a port', { ...forwarded, 'X-Forwarded-Host': 'photos.example:8443', Origin: `${origin}:8443` }],
    ['omits the port', { ...forwarded, Origin: `${origin}:8443`, 'Sec-Fetch-Site': 'same-origin' }],
    ['reports nothing', { Origin: origin, 'Sec-Fetch-Site': 'same-origin' }],
    ['serves pages without a referrer', { ...forwarded, Origin: 'null', 'Sec-Fetch-Site': 'same-origin' }],
    [
      'stands behind another trusted one',
      {
        ...{ 'X-Forwarded-Host': 'photos.example, nas.local', 'X-Forwarded-Proto': 'https, http' },
        ...{ 'X-Forwarded-For': `${client}, 127.0.0.1`, Origin: origin },
      },
    ],
    [
      'appends to forged headers',
      {
        ...{ 'X-Forwarded-Host': 'evil.example, photos.example', 'X-Forwarded-Proto': 'http, https' },
        ...{ 'X-Forwarded-For': client, Origin: origin },
      },
    ],
  ])('signs in and out when the proxy %s', async (_kind, headers) => {
    expect(await walk(headers)).toEqual(works);
  });

  it.each<[string, Record<string, string>]>([
    ['another origin', { ...forwarded, Origin: 'https://evil.example' }],
    ['a page of another site', { ...forwarded, Origin: 'https://evil.example', 'Sec-Fetch-Site': 'cross-site' }],
    ['another port of the site', { ...forwarded, Origin: `${origin}:8443`, 'Sec-Fetch-Site': 'same-site' }],
    [
      'a forged host',
      { 'X-Forwarded-Host': 'evil.example, photos.example', 'X-Forwarded-For': client, Origin: 'https://evil.example' },
    ],
  ])('refuses the form of %s', async (_kind, headers) => {
    expect((await walk(headers))[1]).toBe(403);
  });
});

describe('account reported by a trusted proxy', () => {
  it('accepts accounts only from configured proxies', async () => {
    const url = 'https://lamp.nas.local/';
    const named = { headers: { 'Remote-User': admin.name } };
    expect((await home.ask(url, named)).status).toBe(401);
    await home.change({ proxySignIn: true });
    expect((await home.ask(url, named)).body).toBe('lamp of ada');
    expect((await home.ask(url, { headers: { 'Remote-User': 'nobody' } })).status).toBe(403);
    expect((await home.ask(url)).status).toBe(401);
    await home.change({ proxySignIn: false });
    await using withoutTrust = await openHome({ services, settings: { shared: ['lamp'], proxySignIn: true } });
    expect((await withoutTrust.ask(url, named)).status).toBe(401);
  });
});

const caddy = toolPath('caddy');
const isHere = await promisify(execFile)(caddy, ['version']).then(
  () => true,
  () => false,
);

describe.skipIf(isMissing(isHere))('Caddy as a reverse proxy', () => {
  it('admits signed-in clients and redirects others to the sign-in', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'caddy-'));
    writeFileSync(join(folder, 'ca.crt'), home.authority);
    const port = await freePort();
    const to = `https://${lan}:${home.port}`;
    const transport = `transport http {\n tls_trusted_ca_certs ${join(folder, 'ca.crt')}\n tls_server_name nas.local\n }`;
    writeFileSync(
      join(folder, 'Caddyfile'),
      `{
 admin off
 auto_https off
}
http://photos.example:${port} {
 bind 127.0.0.1
 handle /.homeport/* {
  reverse_proxy ${to} {\n ${transport}\n }
 }
 handle {
  forward_auth ${to} {
   uri /.homeport/verify
   copy_headers Remote-User
   ${transport}
  }
  respond "album of {http.request.header.Remote-User}"
 }
}
`,
    );
    const child = spawn(caddy, ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'], {
      env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      stdio: 'ignore',
    });
    const browse = async (path: string, headers: Record<string, string> = {}, body?: string): Promise<Answer> => {
      const clientRequest = request({
        ...{ host: '127.0.0.1', port, path, agent: false, method: body === undefined ? 'GET' : 'POST' },
        headers: { Host: `photos.example:${port}`, Accept: 'text/html', ...headers },
      }).end(body);
      const [response] = (await once(clientRequest, 'response')) as [IncomingMessage];
      return { status: response.statusCode ?? 0, headers: response.headers, body: await text(response) };
    };
    try {
      await vi.waitFor(() => browse('/'), { timeout: 30_000 });
      const redirect = await browse('/album');
      const page = `http://photos.example:${port}/.homeport/sign-in`;
      expect([redirect.status, redirect.headers.location]).toEqual([302, `${page}?to=%2Falbum`]);
      const form = new URLSearchParams({ name: admin.name, password: admin.password, to: '/album' }).toString();
      const signed = await browse('/.homeport/sign-in', { Origin: `http://photos.example:${port}` }, form);
      const next = '/.homeport/continue?to=%2Falbum';
      expect([signed.status, signed.headers.location]).toEqual([303, next]);
      expect((await browse(next)).body).toContain('content="0;url=/album"');
      const cookie = signed.headers['set-cookie']?.[0]?.split(';')[0] ?? '';
      expect((await browse('/album', { Cookie: cookie, 'Remote-User': 'eve' })).body).toBe('album of ada');
    } finally {
      child.kill();
      await once(child, 'close');
      rmSync(folder, { recursive: true, force: true });
    }
  }, 60_000);
});

describe('gateway metrics', () => {
  it('counts requests and sign-ins and reports the certificate expiry', async () => {
    await home.signIn('https://lamp.nas.local', admin.name, 'wrong password');
    const page = await (
      await fetch(`${home.host.url('control')}/metrics`, { headers: { Authorization: adminAuthorization } })
    ).text();
    expect(page).toMatch(/gateway_requests_total\{(?=[^}]*to="lamp")[^}]*outcome="passed"[^}]*\} [1-9]/);
    expect(page).toMatch(/gateway_requests_total\{(?=[^}]*to="")[^}]*outcome="sign_in"[^}]*\} [1-9]/);
    expect(page).toMatch(/gateway_sign_ins_total\{[^}]*result="wrong"[^}]*\} [1-9]/);
    const [, ends] = /gateway_certificate_expiry_timestamp_seconds\S* (\d\S*)/.exec(page) ?? [];
    expect(Number(ends) * 1000).toBe((await home.state()).certificate?.expiresAt);
    expect(page).toMatch(/gateway_exchanges_open\S* \d/);
  });
});
