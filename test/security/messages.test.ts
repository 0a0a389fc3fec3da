import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { api } from '../support/api.ts';
import { openAccessHost, type AccessHost } from '../support/access.ts';

let host: AccessHost;
const key = 'household';

beforeAll(async () => {
  host = await openAccessHost({
    sender: [{ service: 'notify', resource: '*', permission: 'write' }],
    reader: [{ service: 'push', resource: 'private', permission: 'read' }],
    writer: [{ service: 'push', resource: 'private', permission: 'write' }],
    other: [{ service: 'push', resource: 'elsewhere', permission: 'read-write' }],
  });
  const urls = 'json://user:hidden-password@192.0.2.1/hook';
  expect((await host.call('anonymous', 'notify', 'POST', `/add/${key}`, { urls })).status).toBe(200);
});
afterAll(() => host[Symbol.asyncDispose]());

/** Sends a request with headers that `fetch` does not permit. */
async function sendRequest(
  service: string,
  method: string,
  path: string,
  headers: Record<string, string>,
): Promise<number> {
  const request = httpRequest({ host: '127.0.0.1', port: host.rig.port(service), method, path, headers, agent: false });
  request.end();
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.resume();
  await once(response, 'close');
  return response.statusCode ?? 0;
}

describe('a GET that publishes', () => {
  const paths = ['publish?message=x', 'send?message=x', 'trigger', 'abc/clear', 'abc/read', 'abc/delete'];
  const pages = [
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
    { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { origin: 'https://evil.example' },
    { origin: 'null' },
  ];

  it.each(paths.flatMap((path) => pages.map((headers) => [path, headers] as const)))(
    'is refused to a page of another site at %s with %o',
    async (path, headers) => {
      const signed = host.authorization('writer');
      // Browsers add stored credentials to requests of images and links.
      const remembered = 'sec-fetch-mode' in headers ? signed : {};
      expect(await sendRequest('push', 'GET', `/private/${path}`, { ...headers, ...remembered })).toBe(403);
    },
  );

  it.each(paths)('works for programs and for pages of the same origin at %s', async (path) => {
    const signed = host.authorization('writer');
    expect(await sendRequest('push', 'GET', `/private/${path}`, signed)).toBe(200);
    expect(await sendRequest('push', 'GET', `/private/${path}`, { ...signed, 'sec-fetch-site': 'same-origin' })).toBe(
      200,
    );
    expect(await sendRequest('push', 'GET', `/private/${path}`, { ...signed, 'sec-fetch-site': 'none' })).toBe(200);
    const fetched = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors', origin: 'https://app.example' };
    expect(await sendRequest('push', 'GET', `/private/${path}`, { ...signed, ...fetched })).toBe(200);
  });

  it('lets a page of another site read with its credential', async () => {
    const headers = { ...host.authorization('reader'), 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' };
    expect(await sendRequest('push', 'GET', '/private/json?poll=1', headers)).toBe(200);
  });
});

describe('a destination that leads back to Homeport', () => {
  const lan = Object.values(networkInterfaces())
    .flat()
    .filter((entry) => entry?.internal === false && entry.family === 'IPv4')
    .map((entry) => entry?.address ?? '')
    .slice(0, 1);

  async function keyUrls(): Promise<string> {
    return (await host.call('admin', 'notify', 'GET', `/json/urls/${key}?privacy=0`)).text();
  }

  it.each(['[::ffff:127.0.0.1]', '[::ffff:7f00:1]', '127.1', '0x7f.1', 'localhost.', ...lan])(
    'changes no key by the host %s, in any format',
    async (name) => {
      for (const scheme of ['json', 'form', 'xml']) {
        const url = `${scheme}://${name}:${String(host.rig.port('notify'))}/add/${key}/?:urls=json://192.0.2.9/x`;
        await host.call('sender', 'notify', 'POST', '/notify', { body: 'x', urls: url });
      }
      const apprise = `apprise://${name}:${String(host.rig.port('notify'))}/${key}`;
      await host.call('sender', 'notify', 'POST', '/notify', { body: 'x', urls: apprise });
      expect(await keyUrls()).toContain('192.0.2.1');
      expect(await keyUrls()).not.toContain('192.0.2.9');
    },
  );

  it('removes no key by a redirect of another server', async () => {
    const server = createServer((_request, response) => {
      response.writeHead(307, { location: `http://127.0.0.1:${String(host.rig.port('notify'))}/del/${key}` }).end();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    await host.call('sender', 'notify', 'POST', '/notify', { body: 'x', urls: `json://127.0.0.1:${String(port)}/` });
    server.closeAllConnections();
    server.close();
    expect(await keyUrls()).toContain('192.0.2.1');
  });

  it('sends no mail to the mail listener', async () => {
    const port = String(host.rig.port('mail'));
    const url = `mailto://127.0.0.1:${port}/?from=a@nas.example&to=alerts@nas.example&mode=insecure`;
    await host.call('sender', 'notify', 'POST', '/notify', { body: 'secret', urls: url });
    const list = await api<{ messages: readonly unknown[] }>(host.rig.url('control'), '/api/mail/messages');
    expect(list.messages).toEqual([]);
  });
});

describe('programs on this computer', () => {
  it('requires a sign-in when they are not trusted', async () => {
    const base = host.rig.url('control');
    const trust = (trustLocalPrograms: boolean) =>
      api(base, '/api/settings/notify', { method: 'PATCH', body: JSON.stringify({ trustLocalPrograms }) });
    await trust(false);
    for (const [method, path] of [
      ['POST', `/notify/${key}`],
      ['POST', `/add/${key}`],
      ['POST', `/get/${key}`],
      ['GET', `/json/urls/${key}`],
    ] as const) {
      const body = method === 'POST' ? { body: 'x', urls: 'json://192.0.2.9' } : undefined;
      expect([path, (await host.call('anonymous', 'notify', method, path, body)).status]).toEqual([path, 401]);
      expect([path, (await host.call('nogrant', 'notify', method, path, body)).status]).toEqual([path, 403]);
    }
    expect((await host.call('admin', 'notify', 'GET', `/json/urls/${key}`)).status).toBe(200);
    await trust(true);
    expect((await host.call('anonymous', 'notify', 'GET', `/json/urls/${key}`)).status).toBe(200);
  });
});

describe('access by object', () => {
  let message: { readonly id: string };
  let file: { readonly id: string };
  let planned: { readonly id: string };
  let item: string;

  beforeAll(async () => {
    const published = async (body: string, headers: Record<string, string>) => {
      const reply = await fetch(`${host.rig.url('push')}/private`, {
        method: 'POST',
        headers: { ...host.authorization('admin'), ...headers },
        body,
      });
      expect(reply.status).toBe(200);
      return (await reply.json()) as { readonly id: string };
    };
    message = await published('hello', {});
    file = await published('content', { filename: 'a.txt' });
    planned = await published('later', { delay: '1h' });
    const base = host.rig.url('control');
    await vi.waitFor(async () => {
      const { items } = await api<{ items: readonly { id: string }[] }>(base, '/api/inbox?q=hello');
      expect(items).toHaveLength(1);
      item = items[0]?.id ?? '';
    });
  });

  it.each([
    ['anonymous', [401, 403]],
    ['nogrant', [403, 404]],
    ['other', [403, 404]],
  ] as const)('shows nothing of a topic to %s', async (account, refused) => {
    for (const path of ['/private/json?poll=1', '/private/raw?poll=1', '/private/sse?poll=1', '/private/auth']) {
      expect([path, (await host.call(account, 'push', 'GET', path)).status]).toEqual([path, 403]);
    }
    expect((await host.call(account, 'push', 'POST', '/private', 'x')).status).toBe(403);
    expect((await host.call(account, 'push', 'DELETE', `/private/${message.id}`)).status).toBe(403);
    for (const [method, path] of [
      ['GET', '/api/push/topics/private/messages'],
      ['GET', `/api/push/topics/private/files/${file.id}`],
      ['DELETE', `/api/push/planned/${planned.id}`],
      ['POST', `/api/push/planned/${planned.id}/publish`],
      ['GET', `/api/inbox/${item}`],
    ] as const) {
      const { status } = await host.call(account, 'control', method, path);
      expect([path, [...refused, 404]]).toEqual([path, expect.arrayContaining([status])]);
    }
  });

  it('lists nothing of a topic to accounts that may not read it', async () => {
    for (const account of ['nogrant', 'other']) {
      for (const path of ['/api/push/topics', '/api/push/planned', '/api/push/search?q=hello', '/api/inbox']) {
        const reply = await host.call(account, 'control', 'GET', path);
        const text = await reply.text();
        expect([account, path, reply.status, /private|hello|later/.test(text)]).toEqual([
          account,
          path,
          reply.status,
          false,
        ]);
      }
    }
  });

  it('lets a reader read and not write, and a writer write and not read', async () => {
    expect((await host.call('reader', 'push', 'GET', '/private/json?poll=1')).status).toBe(200);
    expect((await host.call('reader', 'push', 'POST', '/private', 'x')).status).toBe(403);
    expect((await host.call('reader', 'control', 'DELETE', `/api/push/planned/${planned.id}`)).status).toBeGreaterThan(
      400,
    );
    expect((await host.call('writer', 'push', 'POST', '/private', 'x')).status).toBe(200);
    expect((await host.call('writer', 'push', 'GET', '/private/json?poll=1')).status).toBe(403);
    expect((await host.call('writer', 'control', 'GET', '/api/push/topics/private/messages')).status).toBe(403);
  });

  it('keeps keys and mails to administrators', async () => {
    for (const account of ['nogrant', 'sender', 'reader']) {
      for (const path of ['/api/mail/messages', '/api/mail/access', `/api/notify/keys/${key}/export`]) {
        expect([account, path, (await host.call(account, 'control', 'GET', path)).status]).toEqual([
          account,
          path,
          expect.toBeOneOf([403, 404, 405]),
        ]);
      }
    }
  });
});

describe('malformed requests', () => {
  it.each([
    ['push', 'POST', '/%ff'],
    ['push', 'GET', '/a/json?since=%ff'],
    ['push', 'POST', '/__proto__/constructor'],
    ['push', 'POST', '/v1/account'],
    ['notify', 'POST', '/notify/%ff'],
    ['notify', 'POST', '/notify/__proto__'],
    ['notify', 'GET', '/json/urls/constructor'],
    ['notify', 'POST', '/add/toString'],
  ] as const)('are refused without a fault: %s %s %s', async (service, method, path) => {
    for (const type of ['application/json', 'multipart/form-data', 'multipart/form-data; boundary=', 'x']) {
      for (const encoding of ['identity', 'x-unknown']) {
        const headers = { 'content-type': type, 'content-encoding': encoding, 'content-length': '0' };
        expect(await sendRequest(service, method, path, headers)).toBeLessThan(500);
      }
    }
  });

  it('logs no error when a client leaves in the middle of a body', async () => {
    for (const [service, path] of [
      ['push', '/private'],
      ['notify', `/notify/${key}`],
    ] as const) {
      const headers = { 'content-length': '1000', 'content-type': 'application/json', ...host.authorization('writer') };
      const request = httpRequest({ host: '127.0.0.1', port: host.rig.port(service), method: 'POST', path, headers });
      request.on('error', () => undefined);
      request.write('{"a');
      await once(request, 'socket');
      await new Promise((resolve) => request.write('b', resolve));
      request.destroy();
    }
    expect((await host.call('writer', 'push', 'POST', '/private', 'x')).status).toBe(200);
    expect(host.rig.log.filter((line) => line.includes('request failed'))).toEqual([]);
  });
});
