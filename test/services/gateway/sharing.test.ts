import * as texts from '#messages/gateway-texts';
import { renderRichHtml, toStrong } from '../../../services/kit/rich-html.ts';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { connect as connectHttp2 } from 'node:http2';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import { WebSocket } from 'ws';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { downloads } from '../../../services/downloads/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { push } from '../../../services/push/index.ts';
import { api } from '../../support/api.ts';
import { lan, openHome, phoneAddress, readPlainly, sharing, type Home } from '../../support/gateway/phone.ts';
import { admin, adminAuthorization, openTestHost } from '../../support/host.ts';

const services = [push, downloads, control, gateway];
let home: Home;
beforeAll(async () => {
  home = await openHome({ services, environment: { GATEWAY_SHARED: 'push,downloads' } });
});
afterAll(() => home[Symbol.asyncDispose]());

describe('shared service', () => {
  it('serves its name with a certificate of the local authority', async () => {
    const { status, body } = await home.ask('https://push.nas.local/v1/health');
    expect([status, JSON.parse(body)]).toEqual([200, { healthy: true }]);
  });

  it('serves its port on the network address', async () => {
    const port = home.host.port('push');
    expect((await home.ask(`https://${lan}:${port}/v1/health`)).status).toBe(200);
  });

  it('serves a path and removes the prefix', async () => {
    expect((await home.ask('https://nas.local/push/v1/health')).status).toBe(200);
    expect((await home.ask('https://nas.local/push?x=1')).headers.location).toBe('/push/?x=1');
  });

  it('publishes and streams messages, also over HTTP/2', async () => {
    const session = connectHttp2(`https://push.nas.local:${home.port}`, {
      ca: home.authority,
      createConnection: ({ hostname }: URL) =>
        connectTls({ host: lan, port: home.port, servername: hostname, ca: home.authority, ALPNProtocols: ['h2'] }),
    });
    const authorization = adminAuthorization;
    const stream = session.request({ ':path': '/hall/json', authorization });
    stream.setEncoding('utf8');
    let received = '';
    stream.on('data', (chunk: string) => (received += chunk));
    await vi.waitFor(() => expect(received).toContain('"event":"open"'), { timeout: 15_000 });
    const post = session.request({ ':method': 'POST', ':path': '/hall', title: 'Door', authorization });
    post.end('It rang');
    expect(JSON.parse(await text(post))).toMatchObject({ event: 'message', message: 'It rang', title: 'Door' });
    await vi.waitFor(() => expect(received).toContain('It rang'), { timeout: 15_000 });
    stream.close();
    session.close();
    await once(session, 'close');
  });
});

describe('a WebSocket', () => {
  const socketTo = (host: string, headers: Record<string, string>): WebSocket =>
    new WebSocket(`wss://${host}:${home.port}/hall/ws`, {
      ...{ ca: home.authority, headers },
      lookup: (_name: string, options: any, done: any) =>
        options.all ? done(null, [{ address: lan, family: 4 }]) : done(null, lan, 4),
    });

  it('streams messages and closes with the client', async () => {
    const socket = socketTo('push.nas.local', { Authorization: adminAuthorization });
    const [opened] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(opened.toString())).toMatchObject({ event: 'open', topic: 'hall' });
    const firstMessage = once(socket, 'message') as Promise<[Buffer]>;
    const posting = { method: 'POST', headers: { Authorization: adminAuthorization }, body: 'It rang' };
    await home.ask('https://push.nas.local/hall', posting);
    expect(JSON.parse((await firstMessage)[0].toString())).toMatchObject({ message: 'It rang' });
    socket.close();
    await once(socket, 'close');
  });

  it('rejects unshared services and missing sign-ins', async () => {
    for (const [host, status] of [
      ['control.nas.local', 404],
      ['downloads.nas.local', 401],
    ] as const) {
      const socket = socketTo(host, {});
      socket.on('error', () => undefined);
      const [, answer] = (await once(socket, 'unexpected-response')) as [unknown, IncomingMessage];
      expect(answer.statusCode).toBe(status);
      socket.terminate();
    }
  });
});

describe('unshared service', () => {
  it('does not respond to its name, path or port', async () => {
    expect((await home.ask('https://control.nas.local/')).status).toBe(404);
    expect((await home.ask('https://nas.local/control/api/session')).status).toBe(404);
    const socket = connect({ port: home.host.port('control'), host: lan, localAddress: phoneAddress });
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNREFUSED');
  });

  it('opens listeners only while something is shared', async () => {
    await using quiet = await openTestHost({
      services,
      environment: sharing(),
    });
    const state = (): Promise<any> => api(quiet.url('control'), '/api/gateway');
    expect(await state()).toMatchObject({ trustUrl: null, certificate: null });
    const port = quiet.port('push');
    expect(await reaches(port)).toBe(false);
    const share = async (shared: readonly string[]): Promise<void> => {
      await api(quiet.url('control'), '/api/settings/gateway', { method: 'PATCH', body: JSON.stringify({ shared }) });
    };
    await share(['push']);
    expect((await state()).services.find(({ id }: any) => id === 'push').addresses).toHaveLength(2);
    expect(await reaches(port)).toBe(true);
    await share([]);
    expect(await reaches(port)).toBe(false);
  });

  it('closes connections of unadmitted networks', async () => {
    await using otherHost = await openTestHost({
      services,
      environment: sharing({ GATEWAY_SHARED: 'push', GATEWAY_NETWORKS: '10.0.0.0/8' }),
    });
    const socket = connect({ port: otherHost.port('push'), host: lan, localAddress: phoneAddress });
    await once(socket, 'connect');
    socket.write('x');
    socket.on('error', () => undefined);
    await once(socket, 'close');
    expect(socket.bytesRead).toBe(0);
  });

  it('hides the metrics from other computers', async () => {
    expect((await home.ask('https://push.nas.local/metrics')).body).not.toContain('# HELP');
    expect(await (await fetch(`${home.host.url('push')}/metrics`)).text()).toContain('# HELP');
  });
});

describe('service without its own sign-in', () => {
  it('redirects browsers to the sign-in and sends 401 to programs', async () => {
    const page = await home.ask('https://downloads.nas.local/history?x=1', { headers: { Accept: 'text/html' } });
    expect([page.status, page.headers.location]).toEqual([302, '/.homeport/sign-in?to=%2Fhistory%3Fx%3D1']);
    const getIntroduction = async (address: string): Promise<string | undefined> =>
      /<h1>.+<\/h1>\n<p>(.+)<\/p>/.exec((await home.ask(address)).body)?.[1];
    const named = renderRichHtml(texts.signInIntroductionForService({ title: 'Downloads' }), { service: toStrong });
    expect(await getIntroduction('https://downloads.nas.local/.homeport/sign-in?to=%2Fhistory')).toBe(named);
    expect(await getIntroduction('https://nas.local/.homeport/sign-in?to=%2Fdownloads%2Fhistory')).toBe(named);
    // Unshared services are not listed.
    for (const path of ['%2F', '%2Fcontrol%2F', '%2Fnothing%2F'])
      expect(await getIntroduction(`https://nas.local/.homeport/sign-in?to=${path}`)).toBe(texts.signInIntroduction());
    const program = await home.ask('https://downloads.nas.local/history');
    expect([program.status, program.headers['www-authenticate']]).toEqual([401, expect.stringContaining('Basic')]);
    expect((await home.ask(`https://${lan}:${home.host.port('downloads')}/history`)).status).toBe(401);
  });

  it('accepts sessions of the same host and port only', async () => {
    const cookie = await home.signIn('https://downloads.nas.local', admin.name, admin.password);
    expect(cookie).toMatch(/^__Host-homeport-\d+=v1\./);
    const requestOptions = { headers: { Cookie: cookie } };
    expect((await home.ask('https://downloads.nas.local/history', requestOptions)).status).toBe(200);
    expect((await home.ask('https://nas.local/downloads/history', requestOptions)).status).toBe(401);
    const port = home.host.port('downloads');
    expect((await home.ask(`https://${lan}:${port}/history`, requestOptions)).status).toBe(401);
    // The check applies even when a client uses the name of the other port.
    const renamed = { headers: { Cookie: cookie.replace(/\d+=/, `${port}=`) } };
    expect((await home.ask(`https://${lan}:${port}/history`, renamed)).status).toBe(401);
  });

  it('rejects cross-origin sessions and duplicate cookies', async () => {
    const cookie = await home.signIn('https://downloads.nas.local', admin.name, admin.password);
    const sendRequest = async (headers: Record<string, string>, method = 'GET'): Promise<number> =>
      (await home.ask('https://downloads.nas.local/history', { method, headers: { Cookie: cookie, ...headers } }))
        .status;
    expect(await sendRequest({ Origin: 'https://push.nas.local' })).toBe(401);
    expect(await sendRequest({ 'Sec-Fetch-Site': 'same-site', 'Sec-Fetch-Mode': 'no-cors' })).toBe(401);
    expect(
      await sendRequest({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'iframe' }),
    ).toBe(401);
    expect(
      await sendRequest({ 'Sec-Fetch-Site': 'cross-site', 'Sec-Fetch-Mode': 'navigate', 'Sec-Fetch-Dest': 'document' }),
    ).toBe(200);
    expect(await sendRequest({ Cookie: `${cookie.split('=')[0]}=tossed; ${cookie}` })).toBe(401);
  });

  it('accepts passwords and access tokens over Basic', async () => {
    const requestOptions = { headers: { Authorization: adminAuthorization } };
    expect((await home.ask('https://downloads.nas.local/history', requestOptions)).status).toBe(200);
    const wrong = { headers: { Authorization: `Basic ${Buffer.from('ada:wrong password').toString('base64')}` } };
    expect((await home.ask('https://downloads.nas.local/history', wrong)).status).toBe(401);
  });

  it('rejects accounts without a grant', async () => {
    const account = { name: 'bob', password: 'long enough' };
    await api(home.host.url('control'), '/api/accounts', { method: 'POST', body: JSON.stringify(account) });
    const cookie = await home.signIn('https://downloads.nas.local', account.name, account.password);
    expect((await home.ask('https://downloads.nas.local/history', { headers: { Cookie: cookie } })).status).toBe(403);
  });

  it('rejects requests after sign-out or loss of the grant', async () => {
    const cookie = await home.signIn('https://downloads.nas.local', admin.name, admin.password);
    const origin = `https://downloads.nas.local:${home.port}`;
    const out = await home.ask('https://downloads.nas.local/.homeport/sign-out', {
      method: 'POST',
      headers: { Cookie: cookie, Origin: origin },
    });
    expect(out.status).toBe(303);
    expect((await home.ask('https://downloads.nas.local/history', { headers: { Cookie: cookie } })).status).toBe(401);
  });

  it('needs no sign-in when the setting allows it', async () => {
    await using open = await openHome({ services, environment: { GATEWAY_OPEN: 'downloads' } });
    expect((await open.ask('https://downloads.nas.local/history')).status).toBe(200);
  });
});

describe('the sign-in page', () => {
  it('redirects to the same host only', async () => {
    const origin = `https://downloads.nas.local:${home.port}`;
    for (const to of ['//evil.example', '/\\evil.example', 'https://evil.example', '/\t/evil.example', 'x']) {
      const body = new URLSearchParams({ ...admin, to }).toString();
      const response = await home.ask('https://downloads.nas.local/.homeport/sign-in', {
        method: 'POST',
        headers: { Origin: origin },
        body,
      });
      expect([response.status, response.headers.location]).toEqual([303, '/']);
    }
  });

  it('rejects forms of other pages and reports errors', async () => {
    const body = new URLSearchParams({ ...admin }).toString();
    const url = 'https://downloads.nas.local/.homeport/sign-in';
    expect((await home.ask(url, { method: 'POST', headers: { Origin: 'https://evil.example' }, body })).status).toBe(
      403,
    );
    expect((await home.ask(url, { method: 'POST', body })).status).toBe(403);
    const wrong = new URLSearchParams({ name: '<b>', password: 'wrong password' }).toString();
    const origin = `https://downloads.nas.local:${home.port}`;
    const response = await home.ask(url, { method: 'POST', headers: { Origin: origin }, body: wrong });
    expect(response.status).toBe(401);
    expect(response.body).toContain('role="alert"');
    expect(response.body).not.toContain('<b>');
  });
});

describe('host names', () => {
  it('rejects unknown names on every port (DNS rebinding)', async () => {
    expect((await home.ask('https://push.nas.local/v1/health', { headers: { Host: 'evil.example' } })).status).toBe(
      403,
    );
    const { trustUrl } = await home.state();
    expect((await readPlainly(trustUrl ?? '', { headers: { Host: 'evil.example' } })).status).toBe(403);
  });
});

describe('trust page', () => {
  it('serves the authority as file and profile with its fingerprint', async () => {
    const { trustUrl, certificate } = await home.state();
    const page = await readPlainly(trustUrl ?? '');
    expect(page.body).toContain(certificate?.fingerprint);
    const authority = new X509Certificate((await readPlainly(`${trustUrl}/homeport.crt`)).body);
    expect(authority.fingerprint256).toBe(certificate?.fingerprint);
    const profile = await readPlainly(`${trustUrl}/homeport.mobileconfig`);
    expect(profile.headers['content-type']).toBe('application/x-apple-aspen-config');
    expect(profile.body).toContain(authority.raw.toString('base64'));
  });

  it('redirects to HTTPS and accepts no credentials', async () => {
    const { origin } = new URL((await home.state()).trustUrl ?? '');
    const moved = await readPlainly(`${origin}/x?y=1`);
    expect([moved.status, moved.headers.location]).toEqual([308, `https://${lan}:${home.port}/x?y=1`]);
    expect((await readPlainly(`${origin}/x`, { method: 'POST' })).status).toBe(403);
  });
});

/** Returns true when a port accepts connections on the network address. */
async function reaches(port: number): Promise<boolean> {
  const socket = connect({ port, host: lan, localAddress: phoneAddress });
  const reached = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  socket.destroy();
  return reached;
}
