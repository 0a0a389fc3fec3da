import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { launchBrowser, noBrowser, openProfile } from '../support/browser.ts';
import { admin, openTestHost, type TestHost } from '../support/host.ts';

/** Origin of a hostile page: another site, another port of this computer, or none (in a sandbox). */
export type PageOrigin = 'another site' | 'another port' | 'a sandbox';

/** Request with which a page can make a browser change data in the app. */
export interface Shape {
  readonly name: string;
  /** Runs in the hostile page and resolves when the request was answered or refused. */
  readonly send: (target: Target) => Promise<void> | void;
  /** Encoding of a form, whose response is a navigation. */
  readonly enctype?: string;
}

interface Target {
  readonly app: string;
  /** Account that the page tries to create, as JSON. */
  readonly account: string;
  readonly enctype: string;
}

/** Sends a form. As plain text its one field is valid JSON: `{"name":"evil","x":"` before the `=`, `"}` after it. */
function sendForm({ app, account, enctype }: Target): void {
  const form = Object.assign(document.createElement('form'), {
    method: 'POST',
    enctype,
    action: `${app}/api/accounts`,
  });
  const isText = enctype === 'text/plain';
  const fields = isText ? { [`${account.slice(0, -1)},"x":"`]: '"}' } : (JSON.parse(account) as Record<string, string>);
  for (const [name, value] of Object.entries(fields)) {
    form.append(Object.assign(document.createElement('input'), { name, value }));
  }
  document.body.append(form);
  form.submit();
}

export const shapes: readonly Shape[] = [
  { name: 'a form', enctype: 'application/x-www-form-urlencoded', send: sendForm },
  { name: 'a form of files', enctype: 'multipart/form-data', send: sendForm },
  { name: 'a form whose text is JSON', enctype: 'text/plain', send: sendForm },
  {
    name: 'fetch without CORS',
    send: async ({ app, account }) => {
      const init = { method: 'POST', mode: 'no-cors', credentials: 'include', body: account } as const;
      await fetch(`${app}/api/accounts`, init).catch(() => undefined);
    },
  },
  {
    name: 'fetch of text/plain with CORS',
    send: async ({ app, account }) => {
      const headers = { 'Content-Type': 'text/plain' };
      const init = { method: 'POST', credentials: 'include', headers, body: account } as const;
      await fetch(`${app}/api/accounts`, init).catch(() => undefined);
    },
  },
  {
    name: 'fetch of JSON with CORS',
    send: async ({ app, account }) => {
      const headers = { 'Content-Type': 'application/json', 'Homeport-Session': 'x'.repeat(43) };
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const init = { method, credentials: 'include', headers, body: account } as const;
        await fetch(`${app}/api/accounts`, init).catch(() => undefined);
      }
    },
  },
  {
    name: 'a beacon',
    send: async ({ app, account }) => {
      navigator.sendBeacon(`${app}/api/accounts`, new Blob([account], { type: 'text/plain' }));
      // Sent after the beacon on the same connection.
      await fetch(`${app}/api/session`, { mode: 'no-cors' }).catch(() => undefined);
    },
  },
  {
    name: 'an image',
    send: ({ app }) =>
      new Promise<void>((resolve) => {
        const image = new Image();
        image.onload = image.onerror = () => resolve();
        image.src = `${app}/api/accounts?_method=POST&name=evil`;
      }),
  },
];

const evil = { name: 'evil', role: 'admin', kind: 'person', password: 'velvet-otter-93-lantern' };

/** Tests every request from every origin in Chromium, in a browser that has stored an administrator's password. */
export function describeHostileAppPages(origins: readonly PageOrigin[], chosen: readonly Shape[]): void {
  describe.skipIf(noBrowser !== undefined)('a hostile page', () => {
    let host: TestHost;
    let browser: Browser;
    let server: Server;
    let context: BrowserContext;
    let page: Page;
    beforeAll(async () => {
      host = await openTestHost({ services: [push, control] });
      server = createServer((_request, response) => {
        response.setHeader('Content-Type', 'text/html').end('<!doctype html><title>Kittens</title>');
      }).listen(0, '127.0.0.1');
      await once(server, 'listening');
      browser = await launchBrowser('engine', ['--host-resolver-rules=MAP *.example 127.0.0.1']);
      context = await openProfile(browser, { httpCredentials: { username: admin.name, password: admin.password } });
      const first = await context.newPage();
      // The browser stores the password that this page requests, and sends it to all paths of the app.
      expect((await first.goto(`${app()}/metrics`))?.status()).toBe(200);
      await first.close();
    });
    afterAll(async () => {
      await browser.close();
      server.close();
      await host[Symbol.asyncDispose]();
    });
    beforeEach(async () => {
      // The pages are closed with the browser, because a page whose form was just answered may close slowly.
      page = await context.newPage();
    });

    const app = (): string => host.url('control');
    const port = (): string => String((server.address() as AddressInfo).port);
    const names = async (): Promise<string[]> =>
      (await api<{ accounts: { name: string }[] }>(app(), '/api/accounts')).accounts.map(({ name }) => name);

    async function open(origin: PageOrigin): Promise<Frame> {
      await page.goto(origin === 'another site' ? `http://kittens.example:${port()}/` : `http://127.0.0.1:${port()}/`);
      if (origin !== 'a sandbox') return page.mainFrame();
      await page.evaluate(
        () =>
          new Promise((resolve) => {
            const frame = document.createElement('iframe');
            frame.setAttribute('sandbox', 'allow-scripts allow-forms');
            frame.srcdoc = '<!doctype html><body></body>';
            frame.onload = resolve;
            document.body.append(frame);
          }),
      );
      const [frame] = page.mainFrame().childFrames();
      if (frame === undefined) throw new Error('The sandbox did not open.');
      return frame;
    }

    for (const pageOrigin of origins) {
      it.each(chosen)(`on ${pageOrigin} changes nothing by $name`, async ({ send, enctype = '' }) => {
        const frame = await open(pageOrigin);
        const before = await names();
        const target = { app: app(), account: JSON.stringify(evil), enctype };
        const answers: number[] = [];
        const listener = (answer: { url: () => string; status: () => number }): void => {
          if (answer.url().startsWith(`${app()}/api/accounts`)) answers.push(answer.status());
        };
        page.on('response', listener);
        const answered = enctype === '' ? undefined : page.waitForResponse(`${app()}/api/accounts`);
        await frame.evaluate(send, target);
        await answered;
        expect(await names()).toEqual(before);
        for (const status of answers) expect([200, 403]).toContain(status);
        if (enctype !== '') expect(answers).toEqual([403]);
      });

      it(`on ${pageOrigin} reads nothing and opens no WebSocket`, async () => {
        const frame = await open(pageOrigin);
        const refusals: string[] = [];
        page.on('websocket', (socket) => void socket.on('socketerror', (error) => refusals.push(error)));
        const receivedEvents = await frame.evaluate(async (base) => {
          const paths = ['/api/session', '/api/accounts', '/api/openapi.json', '/metrics', '/'];
          const read: string[] = [];
          for (const path of paths) {
            await fetch(base + path, { credentials: 'include' }).then(
              () => read.push(path),
              () => undefined,
            );
          }
          const events = new EventSource(`${base}/api/events`, { withCredentials: true });
          await new Promise((resolve) => {
            events.onopen = () => resolve(read.push('events'));
            events.onerror = resolve;
          });
          events.close();
          for (const path of ['/', '/api/events', '/api/session']) {
            const socket = new WebSocket(base.replace('http', 'ws') + path);
            await new Promise((resolve) => {
              socket.onopen = () => resolve(read.push(`WebSocket ${path}`));
              socket.onclose = resolve;
            });
          }
          return read;
        }, app());
        expect(receivedEvents).toEqual([]);
        expect(refusals).toHaveLength(3);
        // The app has no WebSocket routes: the response is that to a request without the upgrade.
        for (const refusal of refusals) expect(refusal).toContain('Unexpected response code');
      });
    }

    it('gets nothing under a name that was bound to this computer later', async () => {
      const rebound = app().replace('127.0.0.1', 'rebound.example');
      const response = await page.goto(`${rebound}/`);
      expect(response?.status()).toBe(403);
      expect(await page.content()).toContain('listener.foreign_host');
      const statuses = await page.evaluate(async (account) => {
        const headers = { 'Content-Type': 'application/json' };
        const sent = [
          fetch('/api/session'),
          fetch('/api/openapi.json'),
          fetch('/api/accounts', { method: 'POST', headers, body: account }),
        ];
        return (await Promise.all(sent)).map(({ status }) => status);
      }, JSON.stringify(evil));
      expect(statuses).toEqual([403, 403, 403]);
      expect(await names()).not.toContain('evil');
    });

    it('is told apart from a form that a person sends on the app itself', async () => {
      await page.goto(`${app()}/metrics`);
      const status = await page.evaluate(
        async (account) => {
          const headers = { 'Content-Type': 'application/json' };
          return (await fetch('/api/accounts', { method: 'POST', headers, body: account })).status;
        },
        JSON.stringify({ ...evil, name: 'friend' }),
      );
      expect(status).toBe(200);
      expect(await names()).toContain('friend');
    });
  });
}
