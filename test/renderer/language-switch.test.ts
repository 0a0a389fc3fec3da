import * as frameMessages from '#messages/frame';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { languages } from '../../messages/generated/languages.ts';
import { withLanguage } from '../../messages/language.ts';
import { loadLanguage } from '../../messages/runtime.ts';
import { pages } from '../../renderer/src/pages/index.ts';
import { getBrowser, noBrowser, openPage, signIn } from '../support/browser.ts';
import { openTestHost, type TestHost } from '../support/host.ts';
import { openPath } from './page-languages.ts';

/** Records the requests of a page until they are taken. */
class RequestLog {
  #requests: string[] = [];

  constructor(page: Page) {
    page.on('request', (request) => {
      this.#requests.push(`${request.resourceType()} ${request.method()} ${request.url()}`);
    });
  }

  take(): readonly string[] {
    const taken = this.#requests;
    this.#requests = [];
    return taken;
  }
}

/**
 * Returns the requests that a change of the language must not cause: a document, or the same data more than three times.
 * Once is for the texts of the host, once because the change of the account is an event itself, and on a busy computer the
 * last request of the previous change may arrive only now.
 */
function findNeedlessRequests(requests: readonly string[]): readonly string[] {
  const documents = requests.filter((request) => request.startsWith('document '));
  const data = requests.filter((request) => request.includes(' GET ') && request.includes('/api/'));
  return [...documents, ...data.filter((request) => data.filter((each) => each === request).length > 3)];
}

describe.skipIf(noBrowser)('a change of the language', () => {
  let host: TestHost;
  beforeAll(async () => {
    [host] = await Promise.all([openTestHost(), ...languages.map(loadLanguage)]);
  });
  afterAll(() => host[Symbol.asyncDispose]());

  it('applies to each open page at once, without loading the page', async () => {
    await using visit = await openPage(await getBrowser());
    const { page } = visit;
    const url = host.url('control');
    await signIn(page.context(), url);
    await page.goto(url);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.evaluate(() => Object.assign(globalThis, { isSameDocument: true }));
    const log = new RequestLog(page);
    // The language is selected in another tab of the same browser, so that each page stays open.
    const account = await page.context().newPage();
    await account.goto(`${url}/account`);
    const select = account.getByRole('combobox').filter({ has: account.locator('option[lang="de"]') });
    await select.waitFor();
    const faults: Record<string, readonly string[]> = {};
    for (const [index, { path, title }] of pages.filter(({ group }) => group !== 'hidden').entries()) {
      const language = languages[(index + 1) % languages.length] ?? '';
      await openPath(page, `/${path}`);
      log.take();
      await select.selectOption(language);
      await page.locator(`html[lang="${language}"]`).waitFor({ state: 'attached' });
      await page
        .getByRole('button', { name: withLanguage(language, frameMessages.find) })
        .first()
        .waitFor();
      // The settings open with their first page.
      const heading = path === 'settings' ? undefined : withLanguage(language, title);
      if (heading !== undefined) await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
      const needless = findNeedlessRequests(log.take());
      if (needless.length > 0) faults[`/${path}`] = needless;
    }
    expect(faults).toEqual({});
    expect(await page.evaluate(() => 'isSameDocument' in globalThis)).toBe(true);
    expect(visit.complaints).toEqual([]);
  });
});
