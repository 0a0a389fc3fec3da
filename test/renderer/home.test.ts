import * as notifyTexts from '#messages/notify-texts';
import * as downloadsTexts from '#messages/downloads-texts';
import * as engineTexts from '#messages/engine-texts';
import * as gitMessages from '#messages/git';
import * as inboxMessages from '#messages/inbox';
import * as hostSettingsMessages from '#messages/host-settings';
import * as frameMessages from '#messages/frame';
import * as homeMessages from '#messages/home';
import * as partsMessages from '#messages/parts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { serviceChanged, type ServiceState } from '../../services/contracts/control/api.ts';
import type { Page } from 'playwright-core';
import { noBrowser, openPage, signIn } from '../support/browser.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { layCable } from './interruptible-proxy.ts';
import { MoodyService } from './memory-services.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('Home', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages();
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  const moodyState: ServiceState = {
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

  const getRow = (page: Page, title = 'Moody') =>
    page
      .getByRole('region', { name: homeMessages.services(), exact: true })
      .or(page.getByRole('region', { name: frameMessages.homeportItself(), exact: true }))
      .getByRole('listitem')
      .filter({ hasText: title });
  const getAttentionRow = (page: Page, title = 'Moody') =>
    page.getByRole('list', { name: homeMessages.needsYou() }).getByRole('listitem').filter({ hasText: title });

  it('lists every service with its status, and an address to copy', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const row = getRow(page);
    await row.getByText(partsMessages.running()).waitFor();
    await row.getByText('3 topics').waitFor();
    // The whole row is a link, except for its buttons.
    const inboxRow = getRow(page, 'Inbox');
    await inboxRow.click({ position: { x: 150, y: 40 } });
    await page.getByRole('heading', { level: 1, name: frameMessages.inboxTitle() }).waitFor();
    await page.goBack();
    await page.getByRole('button', { name: partsMessages.copySubject({ subject: 'the address of Homeport' }) }).click();
    await page.getByText(partsMessages.copied()).waitFor({ state: 'attached' });
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(pages.url);
    expect(visit.complaints).toEqual([]);
  });

  it('shows a failed service with its reason and remedy', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    const row = getRow(page);
    const need = getAttentionRow(page);
    // Screen readers get the text; the problem is visible once, at the top of the page.
    const width = async (word: string): Promise<number> => (await row.getByText(word).boundingBox())?.width ?? 0;
    await row.getByText(partsMessages.running()).waitFor();
    expect(await width('Running')).toBeLessThan(5);
    const reason = 'Port 2586 is taken by ntfy (process 812). Use 2587?';
    pages.inbox.bus?.publish(serviceChanged, { ...moodyState, state: 'failed', reason, suggestedPort: 2587 });
    await row.getByText(partsMessages.stopped()).waitFor();
    expect(await width('Stopped')).toBeLessThan(5);
    await need.getByText(reason).waitFor();
    expect(await page.getByText(reason).count()).toBe(1);
    expect(await row.getByText('3 topics').count()).toBe(0);
    await need.getByRole('button', { name: homeMessages.usePort({ port: '2587' }) }).waitFor();
    await need.getByRole('button', { name: homeMessages.restart() }).click();
    await row.getByText(partsMessages.running()).waitFor();
    await need.getByText(reason).waitFor({ state: 'detached' });
  });

  it('shows the remedy instead of a restart, running work and next steps', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    await getRow(page).getByText(partsMessages.running()).waitFor();
    pages.inbox.bus?.publish(serviceChanged, {
      ...moodyState,
      state: 'degraded',
      detail: '',
      reason: '2 destinations do not answer',
      remedy: { label: notifyTexts.viewDestinations(), to: '/inbox' },
      running: [{ title: 'A film', to: '/downloads', percent: 40 }],
    });
    const running = page.getByRole('list', { name: homeMessages.runningNow() }).getByRole('link', { name: /A film/ });
    expect(await running.getByRole('progressbar').getAttribute('value')).toBe('40');
    await getAttentionRow(page).getByText('2 destinations do not answer.').waitFor();
    expect(await getAttentionRow(page).getByRole('button', { name: homeMessages.restart() }).count()).toBe(0);
    await getAttentionRow(page).getByRole('link', { name: notifyTexts.viewDestinations() }).click();
    await page.getByRole('heading', { level: 1, name: frameMessages.inboxTitle() }).waitFor();
    await page.goBack();
    // A running service may need attention as well, and completed work is no longer listed.
    pages.inbox.bus?.publish(serviceChanged, { ...moodyState, detail: '1 down', remedy: { label: 'See it', to: '/' } });
    await getAttentionRow(page).getByText('1 down.').waitFor();
    await getRow(page).getByText(homeMessages.needsYou()).waitFor();
    await running.waitFor({ state: 'detached' });
    await page
      .getByText(containing(homeMessages.freeLeftOfTotal({ free: anyText, total: anyText })))
      .first()
      .waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('draws the activity of a service once several hours differ', async () => {
    await using visit = await pages.visit('/mark.svg');
    const { page } = visit;
    const hours = (...last: readonly number[]): readonly number[] => [
      ...Array<number>(24 - last.length).fill(0),
      ...last,
    ];
    await page.route('**/api/overview', (route) =>
      route.fulfill({
        json: {
          pulses: [
            { service: 'inbox', total: '3 messages in 24 hours', hours: hours(2, 1) },
            { service: 'moody', total: '7 moods in 24 hours', hours: hours(7) },
            { service: 'control', total: '72 requests in 24 hours', hours: Array<number>(24).fill(3) },
          ],
          activity: [],
          machine: null,
          backup: null,
        },
      }),
    );
    await page.goto(pages.url);
    // A narrow column has no room for the chart of a service with a long text.
    const days = page.getByRole('img', { name: /in 24 hours$/, includeHidden: true });
    await expect.poll(() => days.count()).toBe(2);
    const labels = await days.evaluateAll((all) => all.map((one) => one.getAttribute('aria-label')));
    expect(labels.toSorted()).toEqual(['3 messages in 24 hours', '7 moods in 24 hours']);
    // The scale of a chart is the highest count of an hour.
    await getRow(page)
      .getByText(homeMessages.peakPerHour({ count: 7 }))
      .waitFor({ state: 'attached' });
    expect(await page.getByText(homeMessages.last24Hours(), { exact: true }).count()).toBeLessThanOrEqual(1);
  });

  it('lists next steps that need only one click first', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    await getRow(page).getByText(partsMessages.running()).waitFor();
    const post = { path: '/api/downloads/pause', body: {} };
    for (const id of ['moody', 'inbox', 'downloads']) {
      const begin = { label: `Begin ${id}`, to: '/inbox', ...(id === 'downloads' && { post }) };
      pages.inbox.bus?.publish(serviceChanged, { ...moodyState, id, title: id, begin });
    }
    const steps = page.getByRole('region', { name: homeMessages.nextSteps() }).getByRole('listitem');
    await expect.poll(() => steps.count()).toBe(3);
    await steps.first().getByRole('button', { name: 'Begin downloads' }).waitFor();
    expect(await steps.nth(1).getByRole('button').count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('shows an engine that is being installed, and offers to install one that failed with one click', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    await getRow(page).getByText(partsMessages.running()).waitFor();
    const to = '/settings/engines';
    pages.inbox.bus?.publish(serviceChanged, {
      ...moodyState,
      detail: 'yt-dlp is being installed',
      running: [{ title: 'yt-dlp is being installed', to, percent: 42 }],
    });
    const running = page.getByRole('list', { name: homeMessages.runningNow() });
    await running.getByRole('link', { name: containing(`${downloadsTexts.ytDlpInstalling()}${anyText}42%`) }).waitFor();
    expect(await getAttentionRow(page).count()).toBe(0);
    const posted = Promise.withResolvers<string>();
    await page.route('**/api/engines/**', (route) => {
      posted.resolve(new URL(route.request().url()).search);
      return route.fulfill({ json: {} });
    });
    const post = { path: '/api/engines/yt-dlp/install?wait=false', body: {} };
    pages.inbox.bus?.publish(serviceChanged, {
      ...moodyState,
      state: 'degraded',
      detail: '',
      reason: 'yt-dlp is missing',
      remedy: { label: engineTexts.install({ engine: 'yt-dlp' }), to, post, adminOnly: true },
    });
    await getAttentionRow(page)
      .getByRole('button', { name: engineTexts.install({ engine: 'yt-dlp' }) })
      .click();
    expect(await posted.promise).toBe('?wait=false');
    await page.getByRole('heading', { level: 1, name: frameMessages.enginesTitle() }).waitFor();
  });

  it('shows three next steps, each with one click, until they are dismissed', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    await getRow(page).getByText(partsMessages.running()).waitFor();
    const post = { path: '/api/downloads/pause', body: {} };
    const offer = (): void => {
      for (const id of ['moody', 'inbox', 'downloads', 'control']) {
        const begin = { label: `Begin ${id}`, to: '/inbox', post };
        pages.inbox.bus?.publish(serviceChanged, { ...moodyState, id, title: id, begin });
      }
      pages.inbox.add({ title: 'Behind the offers' });
    };
    offer();
    const steps = page.getByRole('region', { name: homeMessages.nextSteps() });
    await expect.poll(() => steps.getByRole('listitem').count()).toBe(3);
    await steps.getByRole('button', { name: 'Begin moody' }).click();
    await page.getByRole('heading', { level: 1, name: frameMessages.inboxTitle() }).waitFor();
    expect(pages.downloads.paused).toBe(true);
    await page.goBack();
    await steps.getByRole('button', { name: homeMessages.notNow() }).click();
    await page.reload();
    await getRow(page).getByText(partsMessages.running()).waitFor();
    offer();
    await page.getByLabel(frameMessages.countUnread({ unread: 2 })).waitFor();
    expect(await steps.count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('shows the latest messages with source and first line, among the events of services', async () => {
    for (let count = 0; count < 6; count += 1) {
      pages.inbox.add({
        title: `Nightly ${String(count)}`,
        body: `\nCopied ${String(count)} files\nbye`,
        source: 'moody',
        topic: '',
      });
    }
    await using visit = await pages.visit('/mark.svg');
    const { page } = visit;
    const event = { service: 'moody', id: '1', title: 'ada pushed to main', detail: 'ada/lamp', to: '/downloads' };
    await page.route('**/api/overview', (route) =>
      route.fulfill({
        json: { pulses: [], activity: [{ ...event, time: Date.now() + 1000 }], machine: null, backup: null },
      }),
    );
    await page.goto(pages.url);
    const latest = page.getByRole('region', { name: homeMessages.recentActivity() });
    await latest.getByText('Moody · Copied 5 files').waitFor();
    await latest.getByText('Moody · ada/lamp').waitFor();
    expect(await latest.getByRole('listitem').count()).toBe(6);
    await latest
      .getByRole('listitem')
      .first()
      .getByRole('link', { name: containing(gitMessages.eventPushed({ account: 'ada', subject: 'main' })) })
      .click();
    await page.getByRole('heading', { level: 1, name: frameMessages.downloadsTitle() }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('keeps a change that arrived while the list was loading', async () => {
    // Not a page of the app, which would load the list as well.
    await using visit = await pages.visit('/mark.svg');
    const { page } = visit;
    const [blocked, release] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()];
    await page.route(/api\/services$/, async (route) => {
      const response = await route.fetch();
      blocked.resolve(undefined);
      await release.promise;
      await route.fulfill({ response });
    });
    await page.goto(`${pages.url}/`);
    await blocked.promise;
    const reason = 'Its disk is full.';
    pages.inbox.bus?.publish(serviceChanged, { ...moodyState, state: 'failed', reason });
    // Arrives on the same stream after the previous event.
    pages.inbox.add();
    await page.getByLabel(frameMessages.countUnread({ unread: 1 })).waitFor();
    release.resolve(undefined);
    await getAttentionRow(page).getByText(reason).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('switches a service off and on in every window', async () => {
    await using visit = await pages.visit('/');
    await using other = await pages.visit('/');
    const row = (page: Page) => getRow(page);
    for (const { page } of [visit, other]) {
      await page.getByRole('button', { name: homeMessages.addressAndSwitchOfTitle({ title: 'Moody' }) }).click();
    }
    await row(other.page).getByText(partsMessages.running()).waitFor();
    await visit.page.getByRole('switch', { name: homeMessages.titleOn({ title: 'Moody' }) }).click();
    await row(visit.page).getByText(partsMessages.off(), { exact: true }).waitFor();
    await row(other.page).getByText(partsMessages.off(), { exact: true }).waitFor();
    await other.page.getByRole('switch', { name: homeMessages.titleOn({ title: 'Moody' }) }).click();
    await row(visit.page).getByText(partsMessages.running()).waitFor();
    await visit.page.getByRole('button', { name: homeMessages.addressAndSwitchOfTitle({ title: 'Homeport' }) }).click();
    expect(await visit.page.getByRole('switch', { name: homeMessages.titleOn({ title: 'Homeport' }) }).count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('shows why a service cannot be switched', async () => {
    await using locked = await openPages({ environment: { HOMEPORT_ENABLED_MOODY: 'true' } });
    await using visit = await locked.visit('/');
    await visit.page.getByRole('button', { name: homeMessages.addressAndSwitchOfTitle({ title: 'Moody' }) }).click();
    await visit.page.getByRole('switch', { name: homeMessages.titleOn({ title: 'Moody' }) }).click();
    await visit.page
      .getByRole('alert')
      .getByText(/HOMEPORT_ENABLED_MOODY/)
      .waitFor();
    const moody = visit.page.getByRole('switch', { name: homeMessages.titleOn({ title: 'Moody' }) });
    await expect.poll(() => moody.getAttribute('aria-checked')).toBe('true');
  });
});

describe.skipIf(noBrowser)('the command palette', () => {
  it('opens pages, settings and services by name', async () => {
    await using pages = await openPages();
    await using visit = await pages.visit('/');
    const { page } = visit;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const input = page.getByPlaceholder(frameMessages.commandsPrompt());
    await page.getByText('3 topics').waitFor();
    await page.keyboard.press('Control+k');
    await input.fill('downl');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: frameMessages.downloadsTitle(), exact: true }).waitFor();
    expect(await input.count()).toBe(0);
    await page.keyboard.press('Control+k');
    await input.fill(frameMessages.settingsOfTitle({ title: 'moody' }).toLowerCase());
    await page.getByRole('option', { name: frameMessages.settingsOfTitle({ title: 'Moody' }) }).waitFor();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Moody', level: 1 }).waitFor();
    await page.keyboard.press('Control+k');
    await input.fill('copy address');
    await page.keyboard.press('Enter');
    await page.getByText(frameMessages.addressCopied({ address: pages.url })).waitFor();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(pages.url);
    await page.keyboard.press('Control+k');
    await input.fill('restart moody');
    await page.keyboard.press('Enter');
    await page.getByText(frameMessages.titleRestarted({ title: 'Moody' })).waitFor();
    await page.keyboard.press('Control+k');
    await input.fill('xyzzy');
    await page.getByText(partsMessages.noResults()).waitFor();
    await page.keyboard.press('Escape');
    await input.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('lists recent commands first, then available actions', async () => {
    await using pages = await openPages();
    pages.inbox.add({ title: 'Lighthouse', body: 'The lamp is lit' });
    await using visit = await pages.visit('/');
    const { page } = visit;
    const input = page.getByPlaceholder(frameMessages.commandsPrompt());
    const first = page.getByRole('option').first();
    await page.getByText('3 topics').waitFor();
    await page.keyboard.press('Control+k');
    await page
      .getByRole('group', { name: frameMessages.actions() })
      .getByRole('option', { name: frameMessages.downloadALink() })
      .waitFor();
    expect((await first.textContent())?.trim()).toBe(frameMessages.downloadALink());
    await input.fill('system theme');
    await page.keyboard.press('Enter');
    await input.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    const last = page.getByRole('group', { name: frameMessages.usedLast() });
    await last.getByRole('option', { name: frameMessages.themeOfTheSystem() }).waitFor();
    expect(await page.getByRole('option', { name: frameMessages.themeOfTheSystem() }).count()).toBe(1);
    // Commands that must not be repeated are not offered as recent.
    await input.fill('mark all messages');
    await page.getByRole('option', { name: frameMessages.markAllMessagesRead() }).waitFor();
    await page.keyboard.press('Enter');
    await input.waitFor({ state: 'detached' });
    await page.keyboard.press('Control+k');
    await last.getByRole('option', { name: frameMessages.themeOfTheSystem() }).waitFor();
    expect(await last.getByRole('option').count()).toBe(1);
    expect(visit.complaints).toEqual([]);
  });

  it('shows a repeated message once, below named entries', async () => {
    await using pages = await openPages();
    pages.inbox.add({ title: 'Lighthouse', body: 'The lamp is out' });
    for (let count = 0; count < 7; count += 1) pages.inbox.add({ title: 'Lighthouse', body: 'The lamp is lit' });
    pages.downloads.set('film', { title: 'Lighthouse, the film', state: 'finished', finishedAt: Date.now() });
    await using visit = await pages.visit('/');
    const { page } = visit;
    await page.getByText('3 topics').waitFor();
    await page.keyboard.press('Control+k');
    await page.getByPlaceholder(frameMessages.commandsPrompt()).fill('lighthouse');
    const messages = page.getByRole('group', { name: inboxMessages.inTheInbox() });
    await messages.getByText('The lamp is lit').waitFor();
    expect(await messages.getByRole('option').count()).toBe(2);
    const film = page.getByRole('option', { name: /the film/ });
    await film.waitFor();
    const top = async (one: typeof film): Promise<number> => (await one.boundingBox())?.y ?? 0;
    expect(await top(film)).toBeLessThan(await top(messages));
    expect(visit.complaints).toEqual([]);
  });

  it('runs commands, and finds films, settings and messages by text', async () => {
    await using pages = await openPages();
    pages.inbox.add({ title: 'Nightly copy', body: 'A lighthouse was seen' });
    pages.downloads.set('film', { title: 'Lighthouse, the film', state: 'finished', finishedAt: Date.now() });
    await using visit = await pages.visit('/');
    const { page } = visit;
    const input = page.getByPlaceholder(frameMessages.commandsPrompt());
    await page.getByText('3 topics').waitFor();
    await page.keyboard.press('Control+k');
    await input.fill('lighthouse');
    await page
      .getByRole('group', { name: frameMessages.downloadsTitle() })
      .getByRole('option', { name: /the film/ })
      .waitFor();
    await page
      .getByRole('group', { name: inboxMessages.inTheInbox() })
      .getByRole('option', { name: /Nightly copy/ })
      .click();
    await page.getByRole('article').getByText('A lighthouse was seen').waitFor();
    await page.keyboard.press('Control+k');
    await input.fill('pause downloads');
    await page.getByRole('option', { name: frameMessages.pauseDownloads() }).click();
    await expect.poll(() => pages.downloads.paused).toBe(true);
    await page.keyboard.press('Control+k');
    await input.fill('backups keep');
    await page.getByRole('option', { name: hostSettingsMessages.backupKeep() }).click();
    await page.getByLabel(hostSettingsMessages.backupKeep()).waitFor();
    await page.keyboard.press('Control+k');
    await input.fill('dark');
    await page.keyboard.press('Enter');
    const ground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await expect.poll(ground).toBe('oklch(0.19 0.018 245)');
    const dark = await ground();
    await page.reload();
    // The theme is stored, and the menu changes it.
    expect(await ground()).toBe(dark);
    await page.getByRole('button', { name: frameMessages.signedInAsName({ name: 'ada' }) }).click();
    await page.getByRole('menuitem', { name: frameMessages.lightTheme() }).click();
    await expect.poll(ground).not.toBe(dark);
    expect(visit.complaints).toEqual([]);
  });
});

describe.skipIf(noBrowser)('a restarted host', () => {
  it('is found again by an open page, which then reloads its data', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-again-'));
    try {
      const before = await openPages({ dataDir });
      await using cable = await layCable(before.url);
      await using browserPage = await openPage(before.browser);
      await signIn(browserPage.page.context(), before.url);
      await browserPage.page.goto(cable.url);
      await browserPage.page.getByText('3 topics').waitFor();
      cable.cut();
      await before[Symbol.asyncDispose]();
      const moody = new MoodyService();
      moody.health = { state: 'up', detail: '5 topics' };
      await using after = await openPages({ dataDir, moody });
      after.inbox.add({ title: 'New since' });
      cable.resume(after.url);
      await browserPage.page.getByText('5 topics').waitFor();
      await browserPage.page.getByText('New since').waitFor();
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

describe.skipIf(noBrowser)('safe mode', () => {
  it('shows which field of the settings file is invalid', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-safe-'));
    try {
      writeFileSync(join(dataDir, 'homeport.yaml'), 'version: 1\nhost:\n  stopTimeout: lots\n');
      await using pages = await openPages({ dataDir });
      await using visit = await pages.visit('/');
      await visit.page.getByText(homeMessages.safeModeTitle()).waitFor();
      await visit.page.getByText('host.stopTimeout').waitFor();
      expect(visit.complaints).toEqual([]);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});

describe.skipIf(noBrowser)('an invalid setting of one service', () => {
  it('is shown as the reason in its row until it is corrected', async () => {
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-bad-'));
    try {
      const file = join(dataDir, 'homeport.yaml');
      writeFileSync(file, 'version: 1\nservices:\n  moody:\n    limit: lots\n');
      await using pages = await openPages({ dataDir });
      await using visit = await pages.visit('/');
      const banner = visit.page.getByText(homeMessages.unusableSettingsTitle());
      await banner.waitFor();
      await visit.page.getByRole('link', { name: 'services.moody.limit' }).click();
      const field = visit.page.getByLabel('Limit');
      await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
      await visit.page.goBack();
      await banner.waitFor();
      const row = visit.page
        .getByRole('list', { name: homeMessages.needsYou() })
        .getByRole('listitem')
        .filter({ hasText: 'Moody' });
      await row.getByText('services.moody.limit: line 4: Expected a number.').waitFor();
      writeFileSync(file, 'version: 1\nservices:\n  moody:\n    limit: 5\n');
      await row.getByRole('button', { name: homeMessages.restart() }).click();
      await banner.waitFor({ state: 'detached' });
      await row.getByText('services.moody.limit').waitFor({ state: 'detached' });
      expect(visit.complaints).toEqual([]);
    } finally {
      rmSync(dataDir, { recursive: true, force: true });
    }
  });
});
