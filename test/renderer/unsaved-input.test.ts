import * as accessMessages from '#messages/access';
import * as frameMessages from '#messages/frame';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { admin, openTestHost, type TestHost } from '../support/host.ts';
import { besidesRefusals } from './visit.ts';

const typed = 'typed-before-the-session-ended';

describe.skipIf(noBrowser)('unsaved input of a dialog after the session ended', () => {
  let host: TestHost;
  let browser: Browser;
  beforeAll(async () => {
    const built = process.env['HOMEPORT_TEST_PAGES'];
    [host, browser] = await Promise.all([openTestHost(built ? { pages: built } : {}), getBrowser()]);
  });
  afterAll(() => host[Symbol.asyncDispose]());

  it.each([
    ['/push', 'Publish', 'Publish a message'],
    ['/uptime', 'Add a monitor', 'Add a monitor'],
    ['/uptime/maintenance', 'Plan maintenance', 'Plan maintenance'],
    ['/sync', 'New sync', 'New sync'],
    ['/sync/remotes', 'Add a remote', 'Add a remote'],
    ['/git', 'New repository', 'New repository'],
    ['/delivery/keys', 'New key', 'New key'],
    ['/delivery/keys', 'Add a destination', 'Add a destination'],
    ['/delivery/recipients', 'Import recipients', 'Import from Mailrise'],
    ['/delivery/recipients', 'Add a recipient', 'Add a recipient'],
    ['/delivery/rules', 'Add a rule', 'Add a rule'],
  ])('is restored for the same account: %s, %s', async (path, button, name) => {
    await using visit = await openPage(browser);
    const { page } = visit;
    // Shorter than the timeout of a test, so that the error names the waiting line.
    page.setDefaultTimeout(20_000);
    await signIn(page.context(), host.url('control'));
    await page.goto(host.url('control') + path);
    await page.getByRole('button', { name: button, exact: true }).click();
    const dialog = page.getByRole('dialog', { name });
    const field = dialog.locator(':is(input:is(:not([type]), [type=text], [type=url]), textarea):visible').first();
    await field.fill(typed);
    // The session is ended elsewhere, and the event stream of this page is closed.
    await page.evaluate(() =>
      fetch('/api/session', {
        method: 'DELETE',
        headers: { 'Homeport-Session': localStorage.getItem('homeport.session') ?? '' },
      }),
    );
    const signInDialog = page.getByRole('dialog', { name: frameMessages.signIn() });
    await signInDialog.getByLabel(accessMessages.name()).fill(admin.name);
    await signInDialog.getByLabel(accessMessages.password()).fill(admin.password);
    // Reloads of the page behind the dialog must not close it.
    const eventStream = page.waitForResponse((answer) => answer.url().includes('/api/events') && answer.ok());
    await page.keyboard.press('Enter');
    await signInDialog.waitFor({ state: 'detached' });
    await eventStream;
    await page.evaluate(() => new Promise<void>((resolve) => requestIdleCallback(() => resolve())));
    const values = dialog.locator(':is(input, textarea):visible');
    await expect
      .poll(() => values.evaluateAll((all) => all.map((entry) => (entry as HTMLInputElement).value)))
      .toContain(typed);
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });
});
