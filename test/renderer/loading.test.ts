import * as downloadsMessages from '#messages/downloads';
import * as accessMessages from '#messages/access';
import * as frameMessages from '#messages/frame';
import * as partsMessages from '#messages/parts';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('pages of a slow host', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages();
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('shows the frame with the pages before the host reports the session', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    const answer = Promise.withResolvers<undefined>();
    await page.route('**/api/session', async (route) => {
      await answer.promise;
      await route.continue();
    });
    await page.goto(`${pages.url}/downloads`, { waitUntil: 'commit' });
    const sidebar = page.getByRole('navigation', { name: frameMessages.homeport(), exact: true });
    await sidebar.getByRole('link', { name: frameMessages.inboxTitle() }).waitFor();
    await page.getByRole('heading', { level: 1, name: frameMessages.downloadsTitle() }).waitFor();
    await page.getByRole('status', { name: partsMessages.loadingSubject({ subject: 'the page' }) }).waitFor();
    const before = await sidebar.getByRole('link').allTextContents();
    await page.getByText(frameMessages.hostSlow(), { exact: false }).waitFor();
    answer.resolve(undefined);
    await page.getByLabel(downloadsMessages.addressesOfVideos()).waitFor();
    await page.getByText(frameMessages.hostSlow(), { exact: false }).waitFor({ state: 'detached' });
    // The role is not known yet: pages for administrators are listed, so that the sidebar does not grow later.
    expect(before.map((text) => text.trim())).toEqual(
      expect.arrayContaining(['Home', 'Messages', 'Network', 'Settings']),
    );
    expect(visit.complaints).toEqual([]);
  });

  it('keeps the place of the tabs free, so that the content does not move when they appear', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    const answer = Promise.withResolvers<undefined>();
    await page.route('**/api/session', async (route) => {
      await answer.promise;
      await route.continue();
    });
    await page.goto(`${pages.url}/network`, { waitUntil: 'commit' });
    const readTop = async (locator: Locator): Promise<number> => Math.round((await locator.boundingBox())?.y ?? 0);
    const placeholder = page.getByRole('status', { name: partsMessages.loadingSubject({ subject: 'the page' }) });
    const top = await readTop(placeholder);
    answer.resolve(undefined);
    await page.getByRole('tab').first().waitFor();
    expect(await readTop(page.getByRole('tabpanel'))).toBe(top);
  });

  it('shows a visitor without a session that the page is connecting', async () => {
    await using visit = await pages.visit('/settings/log', { signedIn: false });
    const { page } = visit;
    const answer = Promise.withResolvers<undefined>();
    await page.route('**/api/session', async (route) => {
      await answer.promise;
      await route.continue();
    });
    await page.goto(pages.url, { waitUntil: 'commit' });
    await page.getByRole('heading', { name: frameMessages.connectingToHomeport() }).waitFor();
    await page.getByText(frameMessages.hostSlow(), { exact: false }).waitFor();
    answer.resolve(undefined);
    await page.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
  });

  it('opens the requested page once an unreachable host responds again', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    let isReachable = false;
    await page.route('**/api/session', (route) => (isReachable ? route.continue() : route.abort('connectionrefused')));
    await page.goto(`${pages.url}/downloads`, { waitUntil: 'commit' });
    await page.getByRole('heading', { name: accessMessages.homeportDoesNotRespond() }).waitFor();
    isReachable = true;
    // The button is not pressed.
    await page.getByLabel(downloadsMessages.addressesOfVideos()).waitFor();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('keeps the loading state while the host never responds', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    await page.route('**/api/session', () => undefined);
    await page.goto(`${pages.url}/inbox`, { waitUntil: 'commit' });
    await page.getByText(frameMessages.hostSlow(), { exact: false }).waitFor();
    await page.getByRole('heading', { level: 1, name: frameMessages.inboxTitle() }).waitFor();
  });

  it.each([
    ['dark', 'light', 'rgb(13, 21, 27)'],
    ['light', 'dark', 'rgb(247, 251, 252)'],
  ] as const)('paints the selected %s theme before the scripts of the page run', async (choice, system, color) => {
    await using visit = await pages.visit('/settings/log', { dark: system === 'dark' });
    const { page } = visit;
    await page.evaluate((value) => localStorage.setItem('homeport.theme', value), choice);
    const scripts = Promise.withResolvers<undefined>();
    await page.route('**/assets/*.js', async (route) => {
      await scripts.promise;
      await route.continue();
    });
    await page.goto(pages.url, { waitUntil: 'commit' });
    const readColor = (): Promise<string> =>
      page.evaluate(() => {
        const context = new OffscreenCanvas(1, 1).getContext('2d');
        if (context === null) return '';
        context.fillStyle = getComputedStyle(document.documentElement).backgroundColor;
        context.fillRect(0, 0, 1, 1);
        const [red, green, blue] = context.getImageData(0, 0, 1, 1).data;
        return `rgb(${String(red)}, ${String(green)}, ${String(blue)})`;
      });
    await expect.poll(readColor).toBe(color);
    expect(await page.evaluate(() => document.querySelector('nav'))).toBeNull();
    scripts.resolve(undefined);
    await page.getByRole('heading', { level: 1, name: frameMessages.homeTitle() }).waitFor();
    expect(await readColor()).toBe(color);
  });

  it('colors the bars of the browser like the page, also for a selected theme', async () => {
    await using visit = await pages.visit('/settings');
    const { page } = visit;
    const readColors = (): Promise<readonly string[]> =>
      page
        .locator('meta[name=theme-color]')
        .evaluateAll((metas) =>
          metas.map((meta) => `${(meta as HTMLMetaElement).media} ${(meta as HTMLMetaElement).content}`),
        );
    const [light, dark] = ['#f7fbfc', '#0d151b'];
    expect(await readColors()).toEqual([
      `(prefers-color-scheme: light) ${light}`,
      `(prefers-color-scheme: dark) ${dark}`,
    ]);
    await page.getByRole('button', { name: containing(frameMessages.signedInAsName({ name: anyText })) }).click();
    await page.getByRole('menuitem', { name: frameMessages.darkTheme() }).click();
    await expect.poll(async () => (await readColors()).map((entry) => entry.split(' ').at(-1))).toEqual([dark, dark]);
  });

  it('names its shortcuts for installed pages as the pages are named', async () => {
    const manifest = (await (await fetch(`${pages.url}/app.webmanifest`)).json()) as {
      readonly shortcuts: readonly { readonly name: string; readonly url: string }[];
    };
    expect(manifest.shortcuts.map(({ name, url }) => [name, url])).toEqual([
      ['Messages', '/push'],
      ['Publish a message', '/push?compose=1'],
      ['Inbox', '/inbox'],
      ['Downloads', '/downloads'],
    ]);
  });
});
