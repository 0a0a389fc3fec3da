import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { admin, adminAuthorization } from '../../support/host.ts';
import { lan, openHome, type Answer, type Home } from '../../support/gateway/phone.ts';

const services = ['addons', 'downloads', 'notify', 'push', 'uptime', 'sync', 'git'];
const paths: Readonly<Record<string, string>> = { notify: '/delivery' };
const browser = { Accept: 'text/html', Authorization: adminAuthorization };
const allServices = [...services, 'control'];
let home: Home;
beforeAll(async () => {
  home = await openHome({
    settings: { shared: allServices },
    environment: { HOMEPORT_TRUSTED_PROXIES: '127.0.0.0/8' },
  });
}, 120_000);
afterAll(async () => {
  await home[Symbol.asyncDispose]();
});

const getPath = (id: string): string => paths[id] ?? `/${id}`;
const getRedirect = ({ status, headers }: Answer): unknown => [status, headers.location];
const ownPort = (id: string): string => String(home.host.port(id));
const locally = async (id: string, headers: Readonly<Record<string, string>> = {}): Promise<unknown> => {
  const reply = await fetch(home.host.url(id), { redirect: 'manual', headers: { Accept: 'text/html', ...headers } });
  return [reply.status, reply.headers.get('location')];
};

describe('the root of a shared service', () => {
  it.each(services)('redirects a client that uses names to the shared app: %s', async (id) => {
    const response = await home.ask(`https://${id}.nas.local/`, { headers: browser });
    expect(getRedirect(response)).toEqual([302, `https://control.nas.local:${String(home.port)}${getPath(id)}`]);
  });

  it.each(services)('redirects a client of a service port to the port of the app: %s', async (id) => {
    const response = await home.ask(`https://${lan}:${ownPort(id)}/`, { headers: browser });
    expect(getRedirect(response)).toEqual([302, `https://${lan}:${ownPort('control')}${getPath(id)}`]);
  });

  it.each(services)('redirects a client that uses a path to the shared app: %s', async (id) => {
    const named = await home.ask(`https://nas.local/${id}/`, { headers: browser });
    expect(getRedirect(named)).toEqual([302, `https://control.nas.local:${String(home.port)}${getPath(id)}`]);
    const byAddress = await home.ask(`https://${lan}:${String(home.port)}/${id}/`, { headers: browser });
    expect(getRedirect(byAddress)).toEqual([302, `https://${lan}:${ownPort('control')}${getPath(id)}`]);
  });

  it('redirects a browser that opens the app below a path to its root', async () => {
    const response = await home.ask('https://nas.local/control/downloads?id=7', { headers: browser });
    expect(getRedirect(response)).toEqual([302, `https://control.nas.local:${String(home.port)}/downloads?id=7`]);
    const program = await home.ask('https://nas.local/control/api/health', { headers: { Accept: '*/*' } });
    expect(program.headers.location).toBeUndefined();
  });

  it.each(services)('redirects a client of this computer to the local listener: %s', async (id) => {
    expect(await locally(id)).toEqual([302, `${home.host.url('control')}${getPath(id)}`]);
  });

  it('keeps the name and the port that a trusted proxy in front of the gateway reports', async () => {
    const headers = { ...browser, 'X-Forwarded-Host': 'push.nas.local', 'X-Forwarded-Proto': 'https' };
    const response = await home.ask('https://push.nas.local/', { headers });
    expect(getRedirect(response)).toEqual([302, 'https://control.nas.local/push']);
  });

  it('uses the public address of the settings behind a proxy with another name', async () => {
    await using proxiedHome = await openHome({
      environment: { HOMEPORT_TRUSTED_PROXIES: '127.0.0.0/8', HOMEPORT_PUBLIC_URL: 'https://home.example.org/' },
      settings: { shared: allServices },
    });
    const headers = { ...browser, 'X-Forwarded-Host': 'push.example.org' };
    const response = await proxiedHome.ask('https://push.nas.local/', { headers });
    expect(getRedirect(response)).toEqual([302, 'https://home.example.org/push']);
    const direct = await fetch(proxiedHome.host.url('uptime'), {
      redirect: 'manual',
      headers: { Accept: 'text/html', 'X-Forwarded-Host': 'status.example.org' },
    });
    expect(direct.headers.get('location')).toBe('https://home.example.org/uptime');
  });

  it.each(services)('explains behind an unknown proxy how to set the public address: %s', async (id) => {
    const reply = await fetch(home.host.url(id), {
      redirect: 'manual',
      headers: { Accept: 'text/html', 'X-Forwarded-Host': 'door.example.org' },
    });
    expect([reply.status, await reply.text()]).toEqual([404, expect.stringContaining('Public address')]);
  });
});

describe('the sign-in form', () => {
  it('is accepted from its origin only', async () => {
    const { headers } = await home.ask('https://downloads.nas.local/.homeport/sign-in', { headers: browser });
    expect(headers['content-security-policy']).toContain("form-action 'self';");
  });

  it('redirects browsers to an intermediate page, and programs to the requested page', async () => {
    const { name, password } = admin;
    const send = async (accept: string): Promise<unknown> => {
      const response = await home.ask('https://downloads.nas.local/.homeport/sign-in', {
        method: 'POST',
        headers: {
          Accept: accept,
          Origin: `https://downloads.nas.local:${String(home.port)}`,
          'Content-Type': 'application/x-www-form-urlencoded',
        },
        body: new URLSearchParams({ name, password, to: '/history?show=all' }).toString(),
      });
      return getRedirect(response);
    };
    expect(await send('text/html')).toEqual([303, '/.homeport/continue?to=%2Fhistory%3Fshow%3Dall']);
    expect(await send('*/*')).toEqual([303, '/history?show=all']);
    const page = await home.ask('https://downloads.nas.local/.homeport/continue?to=%2Fhistory%3Fshow%3Dall');
    expect(page.body).toContain('<meta http-equiv="refresh" content="0;url=/history?show=all">');
  });

  it('serves the intermediate page only for reads', async () => {
    const { status } = await home.ask('https://downloads.nas.local/.homeport/continue?to=%2F', { method: 'POST' });
    expect(status).toBe(404);
  });

  it.each([
    ['//evil.example/', '/'],
    ['https://evil.example/', '/'],
    ['/\\evil.example', '/'],
    ['/a"><script>', '/a&quot;&gt;&lt;script&gt;'],
  ])('opens only paths of the same host: %s', async (to, expected) => {
    const { body } = await home.ask(`https://downloads.nas.local/.homeport/continue?to=${encodeURIComponent(to)}`);
    expect(body).toContain(`content="0;url=${expected}"`);
  });
});

describe('without the app being shared', () => {
  it('shows browsers how to share it', async () => {
    await home.change({ shared: services });
    try {
      for (const id of services) {
        const response = await home.ask(`https://${id}.nas.local/`, { headers: browser });
        expect([id, response.status, response.headers['content-type']]).toEqual([id, 404, 'text/html; charset=utf-8']);
        expect(response.body).toContain('open <strong>Network</strong>');
      }
    } finally {
      await home.change({ shared: allServices });
    }
  });
});
