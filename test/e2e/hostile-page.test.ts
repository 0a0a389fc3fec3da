import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { downloads } from '../../services/downloads/index.ts';
import { notify } from '../../services/notify/index.ts';
import { push } from '../../services/push/index.ts';
import { noBrowser, openProfile, getBrowser } from '../support/browser.ts';
import { admin, adminAuthorization, openTestHost, type TestHost } from '../support/host.ts';

/** Page of an attacker in the browser of a Homeport user. */
describe.skipIf(noBrowser !== undefined)('a hostile page', () => {
  let host: TestHost;
  let browser: Browser;
  let server: Server;
  beforeAll(async () => {
    host = await openTestHost({ services: [push, notify, downloads, control] });
    browser = await getBrowser();
    server = createServer((_request, response) => {
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Kittens</title>');
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
  });
  afterAll(async () => {
    server.close();
    await host[Symbol.asyncDispose]();
  });

  /** Origins of another site, and of another port of this computer, which browsers treat as the same site. */
  const listPageUrls = () => {
    const { port } = server.address() as AddressInfo;
    return [`http://localhost:${String(port)}`, `http://127.0.0.1:${String(port)}`];
  };
  const encoded = (password: string): string =>
    Buffer.from(`Basic ${Buffer.from(`${admin.name}:${password}`).toString('base64')}`).toString('base64url');

  const signIn = (): Promise<Response> =>
    fetch(`${host.url('control')}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(admin),
    });

  async function visit(address: string): Promise<Page> {
    const page = await (await openProfile(browser)).newPage();
    await page.goto(address);
    return page;
  }

  it('cannot lock out an account with images, regardless of their number', async () => {
    for (const pageUrl of listPageUrls()) {
      const page = await visit(pageUrl);
      await page.evaluate(
        async ({ base, auths }) => {
          const load = (auth: string): Promise<unknown> =>
            new Promise((resolve) => {
              const image = new Image();
              image.onload = image.onerror = resolve;
              image.src = `${base}/x/json?poll=1&auth=${auth}`;
            });
          await Promise.all(auths.map(load));
        },
        { base: host.url('push'), auths: Array.from({ length: 40 }, (_, index) => encoded(`wrong ${String(index)}`)) },
      );
      await page.context().close();
      // This password was not used from this address before.
      expect((await signIn()).status).toBe(200);
    }
  });

  it('cannot lock out an account with headers, links or WebSockets', async () => {
    for (const pageUrl of listPageUrls()) {
      const page = await visit(pageUrl);
      const results = await page.evaluate(
        async ({ base, headers, auth }) => {
          // A browser sends six at a time, and those that are held up would keep it from everything below.
          const abort = new AbortController();
          const calls = headers.map((authorization) =>
            fetch(`${base}/x/json?poll=1`, { headers: { authorization }, signal: abort.signal }).then(
              ({ status }) => status,
              () => 0,
            ),
          );
          const first = await Promise.race(calls);
          abort.abort();
          const socket = new WebSocket(`${base.replace('http', 'ws')}/x/ws?auth=${auth}`);
          const closed = new Promise((resolve) => {
            socket.onopen = () => resolve('open');
            socket.onclose = () => resolve('refused');
          });
          return { first, socket: await closed };
        },
        {
          base: host.url('push'),
          headers: Array.from(
            { length: 40 },
            (_, index) => `Basic ${Buffer.from(`${admin.name}:${pageUrl} ${String(index)}`).toString('base64')}`,
          ),
          // Right, and refused all the same.
          auth: Buffer.from(adminAuthorization).toString('base64url'),
        },
      );
      expect([401, 429]).toContain(results.first);
      expect(results.socket).toBe('refused');
      expect(
        (await fetch(`${host.url('push')}/x/json?poll=1`, { headers: { Authorization: adminAuthorization } })).status,
      ).toBe(200);
      expect((await signIn()).status).toBe(200);
      const [opened] = await Promise.all([
        page.waitForResponse((answer) => answer.url().includes('auth=')),
        page.evaluate((href) => void (location.href = href), `${host.url('push')}/x/json?poll=1&auth=${encoded('x')}`),
      ]);
      expect(opened.status()).toBe(403);
      await page.context().close();
    }
  });

  it('signs in by the address if its origin is allowed', async () => {
    const [pageUrl = ''] = listPageUrls();
    await using open = await openTestHost({
      services: [push, control],
      environment: { HOMEPORT_ALLOWED_ORIGINS: pageUrl },
    });
    const page = await visit(pageUrl);
    const auth = Buffer.from(adminAuthorization).toString('base64url');
    const received = await page.evaluate(
      ({ base, auth }) =>
        new Promise((resolve) => {
          const socket = new WebSocket(`${base.replace('http', 'ws')}/x/ws?auth=${auth}`);
          socket.onmessage = ({ data }) => resolve((JSON.parse(String(data)) as { event: string }).event);
          socket.onclose = () => resolve('refused');
        }),
      { base: open.url('push'), auth },
    );
    expect(received).toBe('open');
    await page.context().close();
  });

  it('cannot display responses in frames', async () => {
    const key = await fetch(`${host.url('notify')}/add/framed`, {
      method: 'POST',
      body: new URLSearchParams({ urls: 'json://me:secret@127.0.0.1:9/' }),
    });
    expect(key.status).toBe(200);
    const answers = [
      ...['status', 'details', 'cfg', 'cfg/framed', 'json/urls/framed', 'get/framed', 'nothing'].map(
        (path) => `${host.url('notify')}/${path}`,
      ),
      ...['status', 'openapi.json', 'history', 'nothing'].map((path) => `${host.url('downloads')}/${path}`),
      ...['', 'api/openapi.json', 'api/session', 'api/nothing', 'metrics'].map(
        (path) => `${host.url('control')}/${path}`,
      ),
    ];
    for (const answer of answers) {
      for (const accept of ['application/json', 'text/html', 'text/plain']) {
        const { headers } = await fetch(answer, { headers: { accept } });
        expect(`${answer} ${headers.get('content-security-policy') ?? ''}`).toContain("frame-ancestors 'none'");
      }
    }
    const page = await visit(listPageUrls()[1] ?? '');
    for (const answer of answers) {
      await page.evaluate(
        (src) =>
          new Promise((resolve) => {
            const frame = document.createElement('iframe');
            frame.onload = resolve;
            frame.src = src;
            document.body.replaceChildren(frame);
          }),
        answer,
      );
      const [frame] = page.mainFrame().childFrames();
      expect(`${answer}: ${frame?.url() ?? ''}`).toBe(`${answer}: chrome-error://chromewebdata/`);
    }
    await page.context().close();
  });
});
