import * as pushMessages from '#messages/push';
import * as accessMessages from '#messages/access';
import * as frameMessages from '#messages/frame';
import * as inboxMessages from '#messages/inbox';
import * as homeMessages from '#messages/home';
import * as partsMessages from '#messages/parts';
import * as stateMessages from '#messages/state';
import type { Locator, Page, Route } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { serviceChanged, settingsChanged, type ServiceState } from '../../services/contracts/control/api.ts';
import { noBrowser } from '../support/browser.ts';
import { admin } from '../support/host.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

const moody: ServiceState = {
  id: 'moody',
  title: 'Moody',
  summary: 'Has a setting of each kind.',
  state: 'up',
  detail: '3 topics',
  reason: null,
  address: null,
  port: null,
  suggestedPort: null,
  listeners: [],
  grantable: [],
};

describe.skipIf(noBrowser)('all pages', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages();
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  const hasKeyboard = (one: Locator): Promise<boolean> =>
    one.evaluate((element) => element === element.ownerDocument.activeElement);

  /** Waits until the page has processed a reply. */
  const settled = (page: Page): Promise<void> =>
    page.evaluate(() => new Promise<void>((resolve) => requestIdleCallback(() => resolve())));

  /** Delays the replies of an address until they are released. */
  async function hold(page: Page, address: RegExp, method: string) {
    const [requested, release] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    let count = 0;
    await page.route(address, async (route: Route) => {
      if (route.request().method() !== method) return route.continue();
      count += 1;
      requested.resolve(undefined);
      await release.promise;
      // The page has aborted the request.
      await route.continue().catch(() => undefined);
    });
    return { asked: requested.promise, release: () => release.resolve(undefined), count: () => count };
  }

  it('does not animate when reduced motion is requested', async () => {
    await using visit = await pages.visit('/gallery');
    const { page } = visit;
    await page.getByRole('heading', { level: 1 }).waitFor();
    const moved = (): Promise<readonly string[]> =>
      page.evaluate(() =>
        [...document.querySelectorAll('*')].flatMap((entry) => {
          const { transitionDuration, animationName, animationIterationCount } = getComputedStyle(entry);
          const isMoved =
            /[1-9]/.test(transitionDuration) || (animationName !== 'none' && animationIterationCount !== '1');
          return isMoved ? [entry.outerHTML.slice(0, 200)] : [];
        }),
      );
    await page.emulateMedia({ reducedMotion: 'no-preference' });
    // The controls of the page are loaded after its heading.
    await expect.poll(async () => (await moved()).length, { timeout: 60_000 }).toBeGreaterThan(3);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await moved()).toEqual([]);
  });

  it('keeps the focus on a busy button, which runs once', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    await page.getByText('3 topics').waitFor();
    const restarts = await hold(page, /\/api\/services\/moody\/restart$/, 'POST');
    pages.inbox.bus?.publish(serviceChanged, { ...moody, state: 'failed', reason: 'Its disk is full.' });
    const button = page
      .getByRole('list', { name: partsMessages.needsYou() })
      .getByRole('button', { name: homeMessages.restart() });
    await button.press('Enter');
    await restarts.asked;
    await expect.poll(() => button.getAttribute('aria-busy')).toBe('true');
    await settled(page);
    expect(await hasKeyboard(button)).toBe(true);
    await page.keyboard.press('Enter');
    restarts.release();
    await button.waitFor({ state: 'detached' });
    expect(restarts.count()).toBe(1);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('draws the focus ring of a switch around its track', async () => {
    await using visit = await pages.visit('/gallery');
    const { page } = visit;
    const button = page.getByRole('switch').first();
    await button.focus();
    await page.keyboard.press('Shift+Tab');
    await page.keyboard.press('Tab');
    const countFocusRings = await button.evaluate((element) =>
      [getComputedStyle(element), getComputedStyle(element, '::before')].map(({ outlineStyle, borderRadius }) => [
        outlineStyle,
        borderRadius,
      ]),
    );
    expect(countFocusRings.map(([outline]) => outline)).toEqual(['none', 'solid']);
    expect(countFocusRings[1]?.[1]).toBe('99px');
  });

  it('keeps the focus on a busy switch', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    await page.getByRole('button', { name: homeMessages.addressAndSwitchOfTitle({ title: 'Moody' }) }).click();
    const changes = await hold(page, /\/api\/settings\/moody$/, 'PATCH');
    const button = page.getByRole('switch', { name: homeMessages.titleOn({ title: 'Moody' }) });
    await button.press('Space');
    await changes.asked;
    await settled(page);
    expect(await hasKeyboard(button)).toBe(true);
    await page.keyboard.press('Space');
    changes.release();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'Moody' })
      .getByText(partsMessages.off(), { exact: true })
      .waitFor();
    await expect.poll(() => button.getAttribute('aria-busy')).toBe('false');
    expect(await hasKeyboard(button)).toBe(true);
    expect(changes.count()).toBe(1);
    expect(visit.complaints).toEqual([]);
  });

  it('focuses the new page after a followed link was removed', async () => {
    pages.inbox.add({ title: 'Lighthouse' });
    await using visit = await pages.visit('/');
    const { page } = visit;
    expect(await page.evaluate(() => document.activeElement === document.body)).toBe(true);
    await page.getByRole('link', { name: pushMessages.allMessages() }).press('Enter');
    await page.getByRole('heading', { level: 1, name: frameMessages.inboxTitle() }).waitFor();
    await expect.poll(() => hasKeyboard(page.getByRole('main'))).toBe(true);
    // A link that stays in the document keeps the focus.
    const home = page.getByRole('link', { name: frameMessages.homeTitle(), exact: true });
    await home.press('Enter');
    await page.getByRole('heading', { level: 1, name: frameMessages.homeTitle() }).waitFor();
    await settled(page);
    expect(await hasKeyboard(home)).toBe(true);
    expect(visit.complaints).toEqual([]);
  });

  it.each([
    ['what was gone to', ['ArrowDown'], 'The lamp is out'],
    ['what came first', [], 'The lamp is lit'],
  ] as const)('keeps %s in the palette when more is found above it', async (_case, keys, expected) => {
    pages.inbox.add({ title: 'Lighthouse', body: 'The lamp is out' });
    pages.inbox.add({ title: 'Lighthouse', body: 'The lamp is lit' });
    pages.downloads.set('film', { title: 'Lighthouse, the film', state: 'finished', finishedAt: Date.now() });
    await using visit = await pages.visit('/');
    const { page } = visit;
    await page.getByText('3 topics').waitFor();
    const films = await hold(page, /\/api\/downloads\?/, 'GET');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(frameMessages.commandsPrompt()).fill('lighthouse');
    const option = (text: string): Locator => page.getByRole('option').filter({ hasText: text });
    await option('The lamp is out').waitFor();
    for (const key of keys) await page.keyboard.press(key);
    expect(await option(expected).getAttribute('aria-selected')).toBe('true');
    films.release();
    await option('the film').waitFor();
    expect(await option(expected).getAttribute('aria-selected')).toBe('true');
    await page.keyboard.press('Enter');
    await page.getByRole('article').getByText(expected).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('searches the palette once, regardless of status events of services', async () => {
    pages.inbox.add({ title: 'Lighthouse', body: 'The lamp is lit' });
    await using visit = await pages.visit('/');
    const { page } = visit;
    await page.getByText('3 topics').waitFor();
    const searches = await hold(page, /\/api\/inbox\/search\?/, 'GET');
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(frameMessages.commandsPrompt()).fill('lighthouse');
    await searches.asked;
    pages.inbox.bus?.publish(serviceChanged, { ...moody, title: 'Lighthouse keeper' });
    await page.getByRole('option', { name: frameMessages.restartTitle({ title: 'Lighthouse keeper' }) }).waitFor();
    await settled(page);
    searches.release();
    await page.getByRole('option').filter({ hasText: 'The lamp is lit' }).waitFor();
    expect(searches.count()).toBe(1);
    expect(visit.complaints).toEqual([]);
  });

  it('shows the latest result, not the one that arrived last', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    await page.getByText('3 topics').waitFor();
    const [requested, release, over] = [
      Promise.withResolvers<undefined>(),
      Promise.withResolvers<undefined>(),
      Promise.withResolvers<undefined>(),
    ];
    let first = true;
    await page.route(/\/api\/services$/, async (route) => {
      if (!first) return route.continue();
      first = false;
      const response = await route.fetch();
      const answer = (await response.json()) as object;
      requested.resolve(undefined);
      await release.promise;
      await route.fulfill({ response, json: { ...answer, configProblems: [{ path: '', message: 'This was then.' }] } });
      over.resolve(undefined);
    });
    pages.inbox.bus?.publish(settingsChanged, { sections: [] });
    await requested.promise;
    const next = page.waitForResponse(/\/api\/services$/);
    pages.inbox.bus?.publish(settingsChanged, { sections: [] });
    await (await next).finished();
    await settled(page);
    release.resolve(undefined);
    await over.promise;
    await settled(page);
    expect(await page.getByText('This was then.').count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('reports a host that stops in the middle of a reply', async () => {
    await using visit = await pages.visit('/', {
      before: () => {
        const { fetch } = globalThis;
        globalThis.fetch = async (input, init) => {
          const response = await fetch(input, init);
          if (input !== '/api/services') return response;
          const body = new ReadableStream({
            start(controller) {
              controller.enqueue(new TextEncoder().encode('{"services":['));
              controller.error(new TypeError('network error'));
            },
          });
          return new Response(body, response);
        };
      },
    });
    await visit.page.getByText(stateMessages.offline()).waitFor();
  });

  it('works in a browser that refuses storage', async () => {
    await using visit = await pages.visit('/', {
      signedIn: false,
      before: () => {
        Object.defineProperty(globalThis, 'localStorage', {
          get() {
            throw new DOMException('Access is denied for this document.', 'SecurityError');
          },
        });
      },
    });
    const { page } = visit;
    await page.getByLabel(accessMessages.name()).fill(admin.name);
    await page.getByLabel(accessMessages.password()).fill(admin.password);
    await page.keyboard.press('Enter');
    await page.getByText('3 topics').waitFor();
    await page.getByRole('button', { name: frameMessages.mediaGroup() }).click();
    await expect
      .poll(() => page.getByRole('button', { name: frameMessages.mediaGroup() }).getAttribute('aria-expanded'))
      .toBe('false');
    expect(visit.complaints).toEqual([]);
  });

  it('relays events to other windows despite an error in one of them', async () => {
    await using visit = await pages.visit('/inbox');
    const reader = visit.page;
    await reader.getByText(inboxMessages.nothingHasArrivedYet()).waitFor();
    const other = await reader.context().newPage();
    await other.goto(`${pages.url}/inbox`);
    await other.getByText(inboxMessages.nothingHasArrivedYet()).waitFor();
    // The first tab reads for both; its event handler fails from now on.
    await reader.evaluate(() => {
      globalThis.setTimeout = (() => {
        throw new Error('a defect');
      }) as unknown as typeof setTimeout;
    });
    pages.inbox.add({ title: 'For both' });
    await other.getByRole('button', { name: /For both/ }).waitFor();
    expect(visit.complaints).toContain('a defect');
  });

  it('deletes removed items at a sign-out before Undo expired', async () => {
    pages.inbox.add({ title: 'Old news' });
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByRole('button', { name: /Old news/ }).click();
    await page.getByRole('article').getByRole('button', { name: inboxMessages.remove() }).click();
    await page
      .getByRole('region', { name: partsMessages.news() })
      .getByRole('button', { name: partsMessages.undo() })
      .waitFor();
    await page.getByRole('button', { name: containing(frameMessages.signedInAsName({ name: anyText })) }).click();
    await page.getByRole('menuitem', { name: frameMessages.signOut() }).click();
    await page.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
    expect(pages.inbox.items).toEqual([]);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('keeps the sign-in visible, however often Escape is pressed', async () => {
    await using visit = await pages.visit('/inbox');
    const { page } = visit;
    await page.getByText(inboxMessages.nothingHasArrivedYet()).waitFor();
    await page.evaluate(() =>
      fetch('/api/session', {
        method: 'DELETE',
        headers: { 'Homeport-Session': localStorage.getItem('homeport.session') ?? '' },
      }),
    );
    const signInDialog = page.getByRole('dialog', { name: frameMessages.signIn() });
    await signInDialog.waitFor();
    for (let press = 0; press < 3; press += 1) {
      await page.keyboard.press('Escape');
      await settled(page);
    }
    await signInDialog.getByLabel(accessMessages.name()).fill(admin.name);
    await signInDialog.getByLabel(accessMessages.password()).fill(admin.password);
    await page.keyboard.press('Enter');
    await signInDialog.waitFor({ state: 'detached' });
    await page.getByText(inboxMessages.nothingHasArrivedYet()).waitFor();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });
});
