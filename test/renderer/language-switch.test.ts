import * as frameMessages from '#messages/frame';
import * as inboxMessages from '#messages/inbox';
import * as uptimeMessages from '#messages/uptime';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { languages } from '../../messages/generated/languages.ts';
import { withLanguage } from '../../messages/language.ts';
import { loadLanguage } from '../../messages/runtime.ts';
import { pages as pageEntries } from '../../renderer/src/pages/index.ts';
import { api } from '../support/api.ts';
import { getBrowser, noBrowser, openPage, signIn } from '../support/browser.ts';
import { openTestHost, type TestHost } from '../support/host.ts';
import { openPath } from './page-languages.ts';
import { ReplyLog } from './reply-log.ts';
import { openPages, type Pages } from './visit.ts';

/** Replies with texts of the host that pages read only for the data in them, with the page. */
const readForData: Readonly<Record<string, string>> = { '/connect-device': '/api/addons/kinds' };

/** Adds an object of each kind whose details contain texts of the host, and returns their pages. */
async function addDetails(base: string): Promise<readonly string[]> {
  const create = <T>(path: string, body: object): Promise<T> =>
    api<T>(base, path, { method: 'POST', body: JSON.stringify(body) });
  // The monitor does not run, so that no event changes it.
  const monitor = { type: 'dns', name: 'Router', hostname: 'router.test', ipFamily: 'ipv4', active: false };
  const schedule = { topic: 'garden', title: 'Water', message: 'Today', rule: '0 18 * * 2,5', zone: 'Europe/Berlin' };
  const [{ id }] = await Promise.all([
    create<{ id: number }>('/api/uptime/monitors', monitor),
    create('/api/push/schedules', schedule),
  ]);
  return [`/uptime/monitors/${String(id)}`, '/push/delayed?of=recurring', '/addons/services'];
}

/** Keeps pages from reloading their data at intervals, which is not the subject. */
async function stopIntervals(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const original = globalThis.setInterval;
    const replacement = (handler: () => void, ms = 0): unknown => (ms < 1000 ? original(handler, ms) : undefined);
    Object.assign(globalThis, { setInterval: replacement });
  });
}

/** Waits until a page shows a language. */
async function waitForLanguage(page: Page, language: string): Promise<void> {
  await page.locator(`html[lang="${language}"]`).waitFor({ state: 'attached' });
  await page
    .getByRole('button', { name: withLanguage(language, frameMessages.find) })
    .first()
    .waitFor();
}

/**
 * Lists the requests after a change of the language that are against the rules: a document, data without texts of the
 * host, or texts more than twice. An event of the account may have been a second reason.
 */
function findFaults(log: ReplyLog, withTexts: readonly string[], plain: readonly string[]): readonly string[] {
  const documents = log.requests.filter(({ type }) => type === 'document').map(({ url }) => `document ${url}`);
  const data = plain.filter((url) => log.count(url) > 0).map((url) => `data ${url}`);
  const repeated = withTexts.filter((url) => log.count(url) > 2).map((url) => `repeated ${url}`);
  return [...documents, ...data, ...repeated];
}

/** Selects a language as another tab of the browser does. */
async function selectInOtherTab(page: Page, language: string): Promise<void> {
  await page.evaluate((choice) => {
    localStorage.setItem('homeport.language', choice);
    dispatchEvent(new StorageEvent('storage', { key: 'homeport.language' }));
  }, language);
  await waitForLanguage(page, language);
}

/** Returns how far all elements of a page are scrolled, in px. */
function readScrollPosition(page: Page): Promise<number> {
  return page.evaluate(() => {
    const positions = [...document.querySelectorAll('*')].map((element) => element.scrollTop);
    return positions.reduce((sum, position) => sum + position, 0);
  });
}

describe.skipIf(noBrowser)('a change of the language', () => {
  let host: TestHost;
  let details: readonly string[];
  beforeAll(async () => {
    [host] = await Promise.all([openTestHost(), ...languages.map(loadLanguage)]);
    details = await addDetails(host.url('control'));
  });
  afterAll(() => host[Symbol.asyncDispose]());

  it('requests only texts of the host again, on each page', async () => {
    await using visit = await openPage(await getBrowser());
    const { page } = visit;
    const url = host.url('control');
    await signIn(page.context(), url);
    await stopIntervals(page);
    const log = new ReplyLog(page);
    await page.goto(url);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.evaluate(() => Object.assign(globalThis, { isSameDocument: true }));
    // The language is selected in another tab of the same browser, so that each page stays open.
    const account = await page.context().newPage();
    await account.goto(`${url}/account`);
    const select = account.getByRole('combobox').filter({ has: account.locator('option[lang="de"]') });
    await select.waitFor();
    const faults: Record<string, readonly string[]> = {};
    const replaced = new Set<string>();
    const visible = pageEntries.filter(({ group }) => group !== 'hidden').map(({ path }) => `/${path}`);
    for (const [index, path] of [...visible, ...details].entries()) {
      const language = languages[(index + 1) % languages.length] ?? '';
      await openPath(page, path);
      await log.settled();
      const withTexts = log.list(true).filter((each) => new URL(each).pathname !== readForData[path]);
      const plain = log.list(false);
      log.clearRequests();
      await select.selectOption(language);
      await waitForLanguage(page, language);
      // The settings open with their first page.
      const entry = pageEntries.find((each) => each.path !== 'settings' && `/${each.path}` === path);
      const heading = entry && withLanguage(language, entry.title);
      if (heading !== undefined) await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
      const missing = await log.waitForLanguage(withTexts, language);
      await log.settled();
      for (const each of withTexts) replaced.add(new URL(each).pathname);
      const found = [...missing.map((each) => `kept ${each}`), ...findFaults(log, withTexts, plain)];
      if (found.length > 0) faults[path] = found;
      log.clear();
    }
    expect(faults).toEqual({});
    // Not only the status of the services, which each page shows.
    for (const path of ['/api/services', '/api/settings', '/api/overview', '/api/engines', '/api/push/schedules'])
      expect([...replaced]).toContain(path);
    expect([...replaced].filter((path) => path.endsWith('/facts'))).toHaveLength(1);
    expect(await page.evaluate(() => 'isSameDocument' in globalThis)).toBe(true);
    expect(visit.complaints).toEqual([]);
  });

  it('keeps an open dialog with its input', async () => {
    await using visit = await openPage(await getBrowser());
    const { page } = visit;
    await signIn(page.context(), host.url('control'));
    // Earlier tests select languages for the account.
    await api(host.url('control'), '/api/account/language', {
      method: 'PUT',
      body: JSON.stringify({ language: 'en' }),
    });
    await page.goto(`${host.url('control')}/uptime`);
    await page.getByRole('button', { name: uptimeMessages.addAMonitor(), exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(uptimeMessages.name(), { exact: true }).fill('Boiler');
    await selectInOtherTab(page, 'fr');
    await page.getByRole('dialog', { name: withLanguage('fr', uptimeMessages.addAMonitor) }).waitFor();
    const name = dialog.getByLabel(withLanguage('fr', uptimeMessages.name), { exact: true });
    expect(await name.inputValue()).toBe('Boiler');
    expect(visit.complaints).toEqual([]);
  });
});

describe.skipIf(noBrowser)('a list after a change of the language', () => {
  let pages: Pages;
  beforeAll(async () => {
    [pages] = await Promise.all([openPages(), ...languages.map(loadLanguage)]);
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('keeps its scroll position and its selected row', async () => {
    for (let index = 0; index < 60; index += 1) pages.inbox.add({ title: `Message ${String(index)}` });
    await using visit = await pages.visit('/inbox', { height: 420 });
    const { page } = visit;
    const getCheckbox = (language: string) => {
      const name = withLanguage(language, () => inboxMessages.chooseMessage({ title: 'Message 52' }));
      return page.getByRole('checkbox', { name, exact: true });
    };
    await getCheckbox('en').check();
    await getCheckbox('en').scrollIntoViewIfNeeded();
    const position = await readScrollPosition(page);
    expect(position).toBeGreaterThan(0);
    await selectInOtherTab(page, 'es');
    expect(await getCheckbox('es').isChecked()).toBe(true);
    expect(await readScrollPosition(page)).toBe(position);
    expect(visit.complaints).toEqual([]);
  });
});
