import * as accessMessages from '#messages/access';
import * as frameMessages from '#messages/frame';
import * as gitMessages from '#messages/git';
import * as partsMessages from '#messages/parts';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { git } from '../../services/git/index.ts';
import { uptime } from '../../services/uptime/index.ts';
import { noBrowser } from '../support/browser.ts';
import { admin } from '../support/host.ts';
import { anyText, startingWith } from '../support/message-patterns.ts';
import { openPages, type Pages } from './visit.ts';

/** Shows and hides a typed password, by mouse and by keyboard. */
async function checkEye(page: Page, selector: string, autocomplete: string): Promise<void> {
  const field = page.locator(selector);
  await field.waitFor();
  expect(await field.getAttribute('autocomplete')).toBe(autocomplete);
  expect(await field.getAttribute('type')).toBe('password');
  await field.fill('harbour light');
  const showButton = field
    .locator('xpath=..')
    .getByRole('button', { name: startingWith(partsMessages.showSubject({ subject: anyText })) });
  await showButton.click();
  expect([await field.getAttribute('type'), await field.inputValue()]).toEqual(['text', 'harbour light']);
  const hide = field
    .locator('xpath=..')
    .getByRole('button', { name: startingWith(partsMessages.hideSubject({ subject: anyText })) });
  await hide.focus();
  await page.keyboard.press('Space');
  expect([await field.getAttribute('type'), await field.inputValue()]).toEqual(['password', 'harbour light']);
  // A field that is cleared hides the next password.
  await field
    .locator('xpath=..')
    .getByRole('button', { name: startingWith(partsMessages.showSubject({ subject: anyText })) })
    .click();
  await field.fill('');
  await expect.poll(() => field.getAttribute('type')).toBe('password');
}

describe.skipIf(noBrowser)('password fields', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages({ also: [uptime, git] });
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('shows what is typed for the first account', async () => {
    await using newPages = await openPages({ administrator: false });
    const link = new URL((await newPages.host.host.setupUrl()) ?? '');
    await using visit = await newPages.visit(link.pathname + link.search, { signedIn: false });
    await checkEye(visit.page, '#password', 'new-password');
    expect(await visit.page.getByLabel(accessMessages.name()).getAttribute('autocomplete')).toBe('username');
    expect(visit.complaints).toEqual([]);
  });

  it('shows what is typed at the sign-in, and signs in with the shown password', async () => {
    await using visit = await pages.visit('/', { signedIn: false });
    const { page } = visit;
    await checkEye(page, '#password', 'current-password');
    expect(await page.getByLabel(accessMessages.name()).getAttribute('autocomplete')).toBe('username');
    await page.getByLabel(accessMessages.name()).fill(admin.name);
    await page.getByLabel(accessMessages.password()).fill(admin.password);
    await page.getByRole('button', { name: partsMessages.showSubject({ subject: 'what you typed' }) }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: accessMessages.signIn() }).click();
    await page.getByRole('heading', { level: 1, name: frameMessages.homeTitle() }).waitFor();
  });

  it.each([
    ['/settings/accounts', 'New account', '#new-password', 'new-password'],
    ['/account', 'Change password', '#current-password', 'current-password'],
    ['/account', 'Change password', '#new-password', 'new-password'],
  ])('shows what is typed: %s %s', async (path, button, selector, autocomplete) => {
    await using visit = await pages.visit(path);
    const { page } = visit;
    await page.getByRole('button', { name: button }).click();
    await checkEye(page, selector, autocomplete);
  });

  it('shows what is typed for another server', async () => {
    await using visit = await pages.visit('/git/repositories');
    const { page } = visit;
    await page.getByRole('button', { name: gitMessages.otherWaysToARepository() }).click();
    await page.getByRole('menuitem', { name: gitMessages.copyOneFromElsewhere() }).click();
    await page.getByText(gitMessages.itNeedsASignIn(), { exact: true }).click();
    await checkEye(page, '#import-password', 'new-password');
  });

  it('shows what is typed for a secret of a service', async () => {
    await using visit = await pages.visit('/settings/moody');
    const field = visit.page.getByLabel('Key', { exact: true });
    await checkEye(visit.page, `#${(await field.getAttribute('id')) ?? ''}`, 'new-password');
  });
});

it('uses one component for all passwords and secrets', () => {
  const folder = fileURLToPath(new URL('../../renderer/src', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.svelte'));
  const others = files.filter((name) => {
    const text = readFileSync(`${folder}/${name}`, 'utf8');
    return /<input[^>]*type=(?:"password"|\{[^}]*'password')/s.test(text);
  });
  expect(others).toEqual(['parts/form/Password.svelte']);
});
