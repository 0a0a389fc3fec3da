import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import * as accessMessages from '#messages/access';
import * as accountsMessages from '#messages/accounts';
import * as frameMessages from '#messages/frame';
import * as hostMessages from '#messages/host-settings';
import * as partsMessages from '#messages/parts';
import * as settingsMessages from '#messages/settings';
import { withLanguage } from '../../messages/language.ts';
import { loadLanguage } from '../../messages/runtime.ts';
import { noBrowser } from '../support/browser.ts';
import { seriousFindings } from './axe.ts';
import { openPages, type Pages } from './visit.ts';

/** Returns a text in German. */
const inGerman = (message: () => string): string => withLanguage('de', message);

async function selectLanguage(page: Page, label: string, language: string): Promise<void> {
  await page.getByRole('combobox', { name: label, exact: true }).selectOption(language);
}

describe.skipIf(noBrowser)('the language of the pages', () => {
  let pages: Pages;
  beforeAll(async () => {
    [pages] = await Promise.all([openPages(), loadLanguage('de')]);
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('changes immediately, with the texts of the host and without losing input', async () => {
    await using visit = await pages.visit('/settings');
    const { page } = visit;
    const timeout = page.getByRole('textbox', { name: hostMessages.stopTimeout() });
    await timeout.fill('77');
    await page.evaluate(() => Object.assign(globalThis, { isSameDocument: true }));
    await selectLanguage(page, partsMessages.language(), 'de');
    await page.getByRole('heading', { name: inGerman(settingsMessages.appearance), exact: true }).waitFor();
    await page.getByText(inGerman(hostMessages.stopTimeout), { exact: true }).waitFor();
    expect(await page.getByRole('textbox', { name: inGerman(hostMessages.stopTimeout) }).inputValue()).toBe('77');
    expect(await page.evaluate(() => document.documentElement.lang)).toBe('de');
    expect(await page.evaluate(() => 'isSameDocument' in globalThis)).toBe(true);
    expect(visit.complaints).toEqual([]);
    await selectLanguage(page, inGerman(partsMessages.language), '');
    await page.getByRole('heading', { name: settingsMessages.appearance(), exact: true }).waitFor();
  });

  it('offers each language by its own name, pronounced in that language, to the keyboard', async () => {
    await using visit = await pages.visit('/account');
    const { page } = visit;
    const select = page.getByRole('combobox', { name: partsMessages.language(), exact: true });
    await select.waitFor();
    const options = await select
      .getByRole('option')
      .evaluateAll((all) => all.map((option) => `${option.getAttribute('lang') ?? ''} ${option.textContent}`));
    expect(options).toEqual([
      ` ${partsMessages.browserLanguage()}`,
      'en English',
      'de Deutsch',
      'es Español',
      'fr Français',
    ]);
    await select.focus();
    await page.keyboard.press('d');
    await page.getByRole('heading', { name: inGerman(accountsMessages.yourAccount), exact: true }).waitFor();
    await page.keyboard.press('Home');
    await page.getByRole('heading', { name: accountsMessages.yourAccount(), exact: true }).waitFor();
    expect(await seriousFindings(page)).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('links to the language of notifications', async () => {
    await using visit = await pages.visit('/settings/general/language');
    const { page } = visit;
    await page.getByRole('combobox', { name: partsMessages.language(), exact: true }).waitFor();
    await page
      .getByRole('main')
      .getByRole('link', { name: frameMessages.notificationsTitle(), exact: true })
      .last()
      .click();
    await page.getByRole('combobox', { name: hostMessages.language() }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('can be selected before the sign-in', async () => {
    await using visit = await pages.visit('/', { signedIn: false });
    const { page } = visit;
    await page.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
    await selectLanguage(page, partsMessages.language(), 'de');
    await page.getByRole('heading', { name: inGerman(accessMessages.signIn) }).waitFor();
    await page.getByRole('combobox', { name: inGerman(partsMessages.language), exact: true }).waitFor();
    expect(await page.getByRole('option', { name: 'Français' }).getAttribute('lang')).toBe('fr');
    expect(visit.complaints).toEqual([]);
  });

  it('follows the account into another browser, until the browser language is selected again', async () => {
    await using first = await pages.visit('/settings');
    await selectLanguage(first.page, partsMessages.language(), 'de');
    await first.page.getByRole('heading', { name: inGerman(settingsMessages.appearance), exact: true }).waitFor();
    await using second = await pages.visit('/settings');
    await second.page.getByRole('heading', { name: inGerman(settingsMessages.appearance), exact: true }).waitFor();
    await selectLanguage(second.page, inGerman(partsMessages.language), '');
    await second.page.getByRole('heading', { name: settingsMessages.appearance(), exact: true }).waitFor();
    await using third = await pages.visit('/settings');
    await third.page.getByRole('heading', { name: settingsMessages.appearance(), exact: true }).waitFor();
  });

  it('is the one of live events, in each of two windows', async () => {
    await using visit = await pages.visit('/');
    const english = visit.page;
    await english.getByText('3 topics').waitFor();
    await using otherVisit = await pages.visit('/settings');
    const german = otherVisit.page;
    await selectLanguage(german, partsMessages.language(), 'de');
    await german.getByRole('heading', { name: inGerman(settingsMessages.appearance), exact: true }).waitFor();
    await german.getByRole('link', { name: inGerman(frameMessages.homeportHome), exact: true }).click();
    await german.getByText('3 topics').waitFor();
    // Only events can change the texts from now on.
    for (const page of [english, german]) await page.route('**/api/services', (route) => route.abort());

    pages.moody.health = { state: 'up', detail: hostMessages.stopTimeout };
    await pages.host.host.control.services();

    await german.getByText(inGerman(hostMessages.stopTimeout)).waitFor();
    await english.getByText(hostMessages.stopTimeout()).waitFor();
  });
});
