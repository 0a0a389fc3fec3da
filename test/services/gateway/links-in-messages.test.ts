import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { openMailServer } from '../../support/mail-server.ts';
import { openHome, type Home } from '../../support/gateway/phone.ts';
import { adminAuthorization } from '../../support/host.ts';

let home: Home;
let mail: Awaited<ReturnType<typeof openMailServer>>;
beforeAll(async () => {
  mail = await openMailServer();
  const server = `127.0.0.1:${String(mail.port)}`;
  home = await openHome({
    environment: {
      NTFY_SMTP_SENDER_ADDR: server,
      NTFY_SMTP_SENDER_FROM: 'ntfy@example.org',
      UPTIME_SUBSCRIBER_MAIL: `mailto://${server}?from=status@example.org&to=all@example.org&mode=insecure`,
    },
    settings: { shared: ['control', 'git', 'push', 'uptime'] },
  });
}, 120_000);
afterAll(async () => {
  await home[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
});

const send = async (url: string, method: string, body: unknown, headers: Record<string, string> = {}) => {
  const reply = await fetch(url, {
    method,
    headers: { authorization: adminAuthorization, 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  expect([url, reply.ok]).toEqual([url, true]);
  return reply;
};
/** Returns the address of a service that the page Network lists first for other devices. */
async function shared(id: string): Promise<string> {
  const { services } = await home.state();
  return services.find((service) => service.id === id)?.addresses[0]?.url ?? 'not shared';
}
const nextMail = async (): Promise<string> => {
  await vi.waitFor(() => expect(mail.taken).not.toEqual([]));
  const [{ source } = { source: Buffer.alloc(0) }] = mail.taken.splice(0);
  return source.toString().replaceAll('=\r\n', '').replaceAll('=3D', '=');
};

/** Returns the payload that a webhook of a new repository delivers. */
async function hookPayload(name: string): Promise<{ readonly repository: Record<string, string> }> {
  const api = `${home.host.url('git')}/api/v1`;
  const receiver = createServer().listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  try {
    const url = `http://127.0.0.1:${String((receiver.address() as AddressInfo).port)}/`;
    await send(`${api}/user/repos`, 'POST', { name, auto_init: true });
    const hook = { type: 'gitea', active: true, events: ['issues'], config: { url, content_type: 'json' } };
    await send(`${api}/repos/ada/${name}/hooks`, 'POST', hook);
    const request = once(receiver, 'request');
    await send(`${api}/repos/ada/${name}/issues`, 'POST', { title: 'An issue' });
    const [received, response] = (await request) as [Parameters<typeof json>[0], { end(): void }];
    const payload = (await json(received)) as { readonly repository: Record<string, string> };
    response.end();
    return payload;
  } finally {
    receiver.close();
  }
}

describe('links in messages of shared services', () => {
  it('sends the shared address to receivers of webhooks', async () => {
    const { repository } = await hookPayload('shared-one');
    expect(repository['html_url']).toBe(`${await shared('git')}/ada/shared-one`);
    expect(repository['clone_url']).toBe(`${await shared('git')}/ada/shared-one.git`);
  });

  it('sends the shared address in mails of Messages', async () => {
    await send(`${home.host.url('push')}/door`, 'POST', 'Open', { email: 'me@example.com' });
    expect(await nextMail()).toContain(`via ${await shared('push')}/door`);
  });

  it('sends subscribers of a status page the address at which they subscribed', async () => {
    const pages = `${home.host.url('control')}/api/uptime/status-pages`;
    await send(pages, 'POST', { slug: 'house', title: 'House' });
    await send(`${pages}/house`, 'PUT', { subscribable: true, publicGroupList: [] });
    const address = `https://uptime.nas.local:${String(home.port)}`;
    const form = {
      method: 'POST',
      headers: { Authorization: adminAuthorization, 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'email=ada%40example.com',
    };
    expect((await home.ask(`${address}/status/house/subscribe`, form)).status).toBe(200);
    const confirm = /https\S+confirm\?of=\S+/.exec(await nextMail())?.[0] ?? '';
    expect(confirm).toContain(`${address}/status/house/confirm`);
    expect((await home.ask(confirm, { ...form, body: '' })).status).toBe(200);
    await send(`${pages}/house/incidents`, 'POST', { title: 'Power cut', content: 'Until noon.' });
    expect(await nextMail()).toContain(`${address}/status/house\r\n`);
  });

  it('links to another computer instead of a loopback address', async () => {
    for (const id of ['git', 'push', 'uptime'])
      expect(await shared(id)).toMatch(/^https:\/\/(?!localhost|127\.0\.0\.1)/);
  });

  it('links to the local address when the service is not shared', async () => {
    await home.change({ shared: ['control'] });
    const { repository } = await hookPayload('local-one');
    expect(repository['html_url']).toBe(`${home.host.url('git')}/ada/local-one`);
  });
});
