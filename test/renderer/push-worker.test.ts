import * as texts from '#messages/push-texts';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { launchBrowser, noBrowser, openProfile } from '../support/browser.ts';

interface WorkerScope {
  readonly registration: ServiceWorkerRegistration;
  readonly PushEvent: { readonly prototype: { waitUntil: (this: object, work: Promise<unknown>) => void } };
  /** Number of handled messages. */
  handled: number;
}

const worker = new URL('../../renderer/public/push-worker.js', import.meta.url);

describe.skipIf(noBrowser !== undefined)('the push worker', () => {
  const open = new AsyncDisposableStack();
  let page: Page;
  let devTools: CDPSession;
  let origin: string;
  let registrationId: string;
  let context: BrowserContext;
  const acknowledged: unknown[] = [];

  beforeAll(async () => {
    const server = createServer((request, response) => {
      if (request.url === '/api/push/acknowledge') {
        void text(request).then((body) => {
          acknowledged.push(JSON.parse(body));
          response.writeHead(200).end('{"ok":true}');
        });
        return;
      }
      const script = request.url === '/push-worker.js';
      void (script ? readFile(worker) : Promise.resolve('<title>t</title>')).then((body) => {
        response.writeHead(200, { 'content-type': script ? 'text/javascript' : 'text/html' }).end(body);
      });
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    open.defer(() => void server.close());
    origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const browser = await launchBrowser('whole');
    open.defer(() => browser.close());
    context = await openProfile(browser, { permissions: ['notifications'] });
    page = await context.newPage();
    devTools = await context.newCDPSession(page);
    const registered = new Promise<string>((resolve) => {
      devTools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
        const [first] = registrations;
        if (first !== undefined) resolve(first.registrationId);
      });
    });
    await devTools.send('ServiceWorker.enable');
    await page.goto(origin);
    await page.evaluate(async () => {
      await navigator.serviceWorker.register('/push-worker.js');
      await navigator.serviceWorker.ready;
    });
    registrationId = await registered;
    await inWorker(() => {
      const scope = globalThis as unknown as WorkerScope;
      scope.handled = 0;
      const { waitUntil } = scope.PushEvent.prototype;
      scope.PushEvent.prototype.waitUntil = function (work) {
        waitUntil.call(this, work);
        void work.finally(() => (scope.handled += 1));
      };
    });
  });
  afterAll(() => open.disposeAsync());

  const inWorker = async <T>(work: () => T): Promise<Awaited<T>> => {
    const [script] = context.serviceWorkers();
    if (script === undefined) throw new Error('the worker does not run');
    return await script.evaluate(work);
  };
  const handled = () => inWorker(() => (globalThis as unknown as WorkerScope).handled);
  const getNotifications = () =>
    page.evaluate(async () => {
      const all = await (await navigator.serviceWorker.ready).getNotifications();
      return all.map(({ title, body, tag, silent, requireInteraction, data }) => ({
        title,
        body,
        tag,
        silent,
        requireInteraction,
        data: data as unknown,
      }));
    });
  beforeEach(async () => {
    await page.evaluate(async () => {
      for (const entry of await (await navigator.serviceWorker.ready).getNotifications()) entry.close();
    });
    await expect.poll(getNotifications).toEqual([]);
  });
  /**
   * Resolves when the worker has handled the message. Chromium loses a notification that is queried between being
   * stored and shown, so it is not queried earlier.
   */
  const deliver = async (payload: unknown): Promise<void> => {
    const before = await handled();
    await devTools.send('ServiceWorker.deliverPushMessage', {
      origin,
      registrationId,
      data: typeof payload === 'string' ? payload : JSON.stringify(payload),
    });
    await expect.poll(handled).toBe(before + 1);
  };
  const message = (fields: object) => ({
    event: 'message',
    subscription_id: '/news',
    message: { id: 'abcdefghijkl', time: 1_700_000_000, event: 'message', topic: 'news', message: 'Hello', ...fields },
  });

  it('shows a message by its priority, with the target of a click', async () => {
    await deliver(message({ title: 'Backup', priority: 5, click: 'https://a.example/x' }));
    await expect.poll(getNotifications).toEqual([
      {
        title: 'Backup',
        body: 'Hello',
        tag: 'news abcdefghijkl',
        silent: false,
        requireInteraction: true,
        data: { topic: 'news', click: 'https://a.example/x', links: {} },
      },
    ]);
  });

  it('is silent for low priorities, and follows only web links', async () => {
    await deliver(message({ priority: 1, click: 'javascript:alert(1)' }));
    await expect
      .poll(getNotifications)
      .toMatchObject([{ title: 'news', silent: true, data: { topic: 'news', links: {} } }]);
    expect((await getNotifications())[0]?.data).not.toHaveProperty('click');
  });

  it('replaces and removes notifications of the same sequence', async () => {
    await deliver(message({ sequence_id: 'job', message: '10 %' }));
    await deliver(message({ sequence_id: 'job', id: 'bbbbbbbbbbbb', message: '90 %' }));
    await deliver(message({ id: 'cccccccccccc', message: 'other' }));
    await expect.poll(async () => (await getNotifications()).map(({ body }) => body).sort()).toEqual(['90 %', 'other']);
    await deliver(message({ sequence_id: 'job', id: 'dddddddddddd', event: 'message_delete', message: undefined }));
    await expect.poll(async () => (await getNotifications()).map(({ body }) => body)).toEqual(['other']);
  });

  it('makes no sound for a topic with a silent rule, even for urgent messages', async () => {
    await deliver({ ...message({ priority: 5 }), silent: true });
    await expect.poll(getNotifications).toMatchObject([{ title: 'news', silent: true, requireInteraction: false }]);
  });

  it('opens all topics from a digest of several', async () => {
    await deliver({
      ...message({ title: texts.digestTitle({ count: 7 }), sequence_id: 'quiet-digest' }),
      digest: true,
    });
    await expect
      .poll(getNotifications)
      .toMatchObject([{ title: texts.digestTitle({ count: 7 }), data: { links: {} } }]);
    expect((await getNotifications())[0]?.data).not.toHaveProperty('topic');
  });

  it('acknowledges an urgent message when its notification is clicked', async () => {
    await deliver({ ...message({ priority: 5 }), acknowledge: 'secret' });
    await expect.poll(getNotifications).toMatchObject([{ data: { acknowledge: 'secret', topic: 'news' } }]);
    await inWorker(async () => {
      const scope = globalThis as unknown as WorkerScope;
      const [notification] = await scope.registration.getNotifications();
      const click = Object.assign(new Event('notificationclick'), {
        notification,
        action: '',
        waitUntil: (work: Promise<unknown>) => void work.catch(() => undefined),
      });
      globalThis.dispatchEvent(click);
    });
    await expect.poll(() => acknowledged).toEqual([{ id: 'secret' }]);
    await expect.poll(getNotifications).toEqual([]);
  });

  it.each(['not json', '{"event":"message"}', '{"event":"subscription_expiring"}', '[]'])(
    'shows a notification for %s, as browsers require',
    async (payload) => {
      await deliver(payload);
      await expect.poll(async () => (await getNotifications()).length).toBe(1);
    },
  );
});
