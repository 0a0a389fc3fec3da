import * as logMessages from '#messages/log';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { api } from '../support/api.ts';
import { noBrowser, openPage, signIn } from '../support/browser.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { openPages, type Pages } from './visit.ts';

const mia = { name: 'mia', password: 'velvet-otter-93-lantern' };

describe.skipIf(noBrowser)('the security log on the Log page', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages();
    await api(pages.url, '/api/accounts', { method: 'POST', body: JSON.stringify(mia) });
    const wrong = { name: mia.name, password: 'not the password' };
    const headers = { 'Content-Type': 'application/json' };
    const reply = await fetch(`${pages.url}/api/session`, { method: 'POST', headers, body: JSON.stringify(wrong) });
    expect(reply.status).toBe(401);
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('shows sign-ins, failures and changed accounts with address and account, and nothing else', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    const rows = page.getByRole('region', { name: logMessages.lines() }).getByRole('row');
    await rows
      .filter({ hasText: containing(logMessages.hostReady({ version: anyText })) })
      .first()
      .waitFor();
    await page.getByLabel(logMessages.service(), { exact: true }).selectOption({ label: logMessages.security() });
    await rows
      .filter({ hasText: containing(logMessages.hostReady({ version: anyText })) })
      .first()
      .waitFor({ state: 'detached' });
    const failure = await rows.filter({ hasText: 'sign-in failed' }).innerText();
    expect(failure).toContain('mia · 127.0.0.1');
    expect(failure).toContain(logMessages.warning());
    expect(await rows.filter({ hasText: 'account created' }).first().innerText()).toContain('mia');
    expect(await page.content()).not.toContain('not the password');
    expect(visit.complaints).toEqual([]);
  });

  it('is not shown to accounts without administration', async () => {
    await using visit = await openPage(pages.browser);
    const { page } = visit;
    await signIn(page.context(), pages.url, mia);
    const refused = page.waitForResponse((reply) => reply.url().includes('/api/log'), { timeout: 5000 });
    await page.goto(`${pages.url}/settings/log?service=security`);
    const reply = await refused.catch(() => undefined);
    if (reply !== undefined) expect(reply.status()).toBe(403);
    expect(await page.content()).not.toContain('sign_in_failed');
  });
});
