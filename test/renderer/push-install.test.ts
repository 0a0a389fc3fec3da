import * as pushMessages from '#messages/push';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { downloads } from '../../services/downloads/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { noBrowser, openPage, signIn } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

/** Replaces the push service of the browser vendor, which tests cannot reach; the rest of the browser is real. */
function withPushService(): void {
  let current: unknown = null;
  const endpoint = 'https://updates.push.services.mozilla.com/wpush/v2/one';
  PushManager.prototype.getSubscription = () => Promise.resolve(current as PushSubscription | null);
  PushManager.prototype.subscribe = (options) => {
    const text = (options?.applicationServerKey as string).replaceAll('-', '+').replaceAll('_', '/');
    const key = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    current = {
      endpoint,
      options: { applicationServerKey: key.buffer },
      toJSON: () => ({ endpoint, keys: { auth: 'AAAAAAAAAAAAAAAAAAAAAA', p256dh: 'B'.repeat(87) } }),
      unsubscribe: () => {
        current = null;
        return Promise.resolve(true);
      },
    };
    return Promise.resolve(current as PushSubscription);
  };
}

describe.skipIf(noBrowser)('web push to a closed browser', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ services: [push, inbox, control], browser: 'whole' });
    for (const topic of ['nas-error-backup', 'router-info-maintenance']) {
      const request = { method: 'POST', body: 'x', headers: { Authorization: adminAuthorization } };
      expect((await fetch(`${pages.host.url('push')}/${topic}`, request)).status).toBe(200);
    }
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('is enabled for one topic and for all, with an active worker', async () => {
    await using visit = await pages.visit('/settings/log', { before: withPushService, serviceWorkers: true });
    const { page } = visit;
    await page.context().grantPermissions(['notifications'], { origin: pages.url });
    await page.goto(`${pages.url}/push/topics/nas-error-backup`);
    const one = page.getByRole('switch', {
      name: pushMessages.notifyThisBrowserOfTopic({ topic: 'nas-error-backup' }),
    });
    const all = page.getByRole('switch', { name: pushMessages.notifyThisBrowserOfEvery() });
    await one.click();
    await expect.poll(() => one.getAttribute('aria-checked')).toBe('true');
    const worker = await page.evaluate(async () => {
      const { active, scope } = await navigator.serviceWorker.ready;
      return { script: active?.scriptURL, scope };
    });
    expect(worker).toEqual({ script: `${pages.url}/service-worker.js`, scope: `${pages.url}/` });
    const back = page.getByRole('link', { name: pushMessages.topics(), exact: true });
    await back.click();
    expect(await all.getAttribute('aria-checked')).toBe('false');
    await all.click();
    await expect.poll(() => all.getAttribute('aria-checked')).toBe('true');
    await page.goBack();
    await expect.poll(() => one.isDisabled()).toBe(true);
    await back.click();
    await all.click();
    await expect.poll(() => all.getAttribute('aria-checked')).toBe('false');
    await page.goBack();
    await expect.poll(() => one.isDisabled()).toBe(false);
    expect(await one.getAttribute('aria-checked')).toBe('true');
    await one.press('Space');
    await expect.poll(() => one.getAttribute('aria-checked')).toBe('false');
    expect(visit.complaints).toEqual([]);
  });

  it('explains why it is unavailable, and what to do', async () => {
    const cases: readonly (readonly [string, () => void])[] = [
      ['notifications are blocked', () => Object.defineProperty(Notification, 'permission', { get: () => 'denied' })],
      [pushMessages.itNeedsHttps(), () => Object.defineProperty(window, 'isSecureContext', { value: false })],
      [pushMessages.itCannot(), () => void Reflect.deleteProperty(window, 'PushManager')],
      [
        'add Homeport to the home screen first',
        () => {
          Reflect.deleteProperty(window, 'PushManager');
          Object.defineProperty(navigator, 'userAgent', { value: 'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0)' });
        },
      ],
    ];
    for (const [label, before] of cases) {
      await using visit = await pages.visit('/push', { before });
      const message = visit.page.getByText(pushMessages.notifyThisBrowserReason({ value: label }));
      await message.locator('xpath=following-sibling::p').filter({ hasText: /\w/ }).waitFor();
      expect(visit.complaints).toEqual([]);
    }
  });

  it('stays disabled, with the reason, when the push service of the browser refuses', async () => {
    await using visit = await pages.visit('/settings/log', {
      serviceWorkers: true,
      before: () => {
        PushManager.prototype.subscribe = () => Promise.reject(new DOMException('no service', 'AbortError'));
      },
    });
    const { page } = visit;
    await page.context().grantPermissions(['notifications'], { origin: pages.url });
    await page.goto(`${pages.url}/push`);
    const all = page.getByRole('switch', { name: pushMessages.notifyThisBrowserOfEvery() });
    await all.click();
    await page.getByText(pushMessages.thisBrowserGetsNoMessages({ error: 'no service' })).waitFor();
    await expect.poll(() => all.getAttribute('aria-checked')).toBe('false');
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    const before = (): void => void Object.defineProperty(Notification, 'permission', { get: () => 'denied' });
    await using visit = await pages.visit('/push/topics/nas-error-backup?show=subscribe', { ...screen, before });
    await visit.page.getByText(pushMessages.notificationsAreBlocked()).last().waitFor();
    await expectFits(visit, 'push-blocked', screen);
  });
});

describe.skipIf(noBrowser)('the installation of the page', () => {
  it('is offered by the browser at the address of the push server', async () => {
    await using pages = await openPages({ services: [push, inbox, downloads, control], browser: 'whole' });
    await using visit = await openPage(pages.browser);
    const { page } = visit;
    await signIn(page.context(), pages.url);
    await page.goto(`${pages.host.url('push')}/`);
    await page.getByRole('heading', { level: 1, name: pushMessages.messages() }).waitFor();
    const devTools = await page.context().newCDPSession(page);
    const { url, errors, data = '' } = await devTools.send('Page.getAppManifest');
    expect([url, errors]).toEqual([`${pages.url}/app.webmanifest`, []]);
    const { installabilityErrors } = await devTools.send('Page.getInstallabilityErrors');
    // The profile of a test is an incognito profile.
    expect(installabilityErrors.filter(({ errorId }) => errorId !== 'in-incognito')).toEqual([]);
    const manifest = JSON.parse(data) as {
      start_url: string;
      icons: { src: string; sizes: string; purpose: string; type: string }[];
      shortcuts: { url: string }[];
    };
    expect(manifest.start_url).toBe('/');
    expect(manifest.icons.map(({ sizes, purpose }) => `${sizes} ${purpose}`)).toEqual(
      expect.arrayContaining(['192x192 any', '512x512 any', '512x512 maskable']),
    );
    for (const { src, sizes, type } of manifest.icons.filter((icon) => icon.type === 'image/png')) {
      const size = await page.evaluate(async (address) => {
        const image = new Image();
        image.src = address;
        await image.decode();
        return `${String(image.naturalWidth)}x${String(image.naturalHeight)}`;
      }, src);
      expect([src, type, size]).toEqual([src, 'image/png', sizes]);
    }
    for (const { url: shortcut } of manifest.shortcuts) {
      await page.goto(`${pages.url}${shortcut}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
    }
    await page.goto(`${pages.url}/push?compose=1`);
    await page.getByRole('dialog', { name: pushMessages.publishAMessage() }).waitFor();
    expect(visit.complaints).toEqual([]);
  });
});
