import * as mailSettingsMessages from '#messages/mail-settings';
import * as logMessages from '#messages/log';
import * as hostSettingsMessages from '#messages/host-settings';
import * as dataSettingsMessages from '#messages/data-settings';
import * as addonsTexts from '#messages/addons-texts';
import * as addonsSettingsMessages from '#messages/addons-settings';
import * as downloadsSettingsMessages from '#messages/downloads-settings';
import * as frameMessages from '#messages/frame';
import * as partsMessages from '#messages/parts';
import * as settingsMessages from '#messages/settings';
import * as settingsFormMessages from '#messages/settings-form';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addons } from '../../services/addons/index.ts';
import { control } from '../../services/control/index.ts';
import { downloads } from '../../services/downloads/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { mail } from '../../services/mail/index.ts';
import { popups } from '../../services/popups/index.ts';
import { getFailureAdvice } from '../../renderer/src/pages/downloads/queue/download-status.ts';
import { noBrowser } from '../support/browser.ts';
import { anyText, matching, startingWith } from '../support/message-patterns.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

/** Notice after a change of the service was saved. */
const savedNotice = `${settingsFormMessages.saved()} ${settingsFormMessages.startedAnew({ restarted: 'Moody' })}`;

describe.skipIf(noBrowser)('the Settings pages', () => {
  let pages: Pages;
  beforeEach(async () => {
    pages = await openPages({ environment: { MOODY_FOLDER: '/srv/moody' } });
  });
  afterEach(() => pages[Symbol.asyncDispose]());

  const file = (): string => readFileSync(join(pages.host.dataDir, 'homeport.yaml'), 'utf8');

  it('shows the effect of saving at a changed field', async () => {
    await using real = await openPages({ services: [inbox, mail, control] });
    await using visit = await real.visit('/settings/mail');
    const { page } = visit;
    const row = (label: string) => page.locator('.row', { has: page.getByLabel(label, { exact: true }) });
    expect(
      await row(mailSettingsMessages.maxMegabytes()).getByText(settingsFormMessages.takesEffectImmediately()).count(),
    ).toBe(0);
    await page.getByLabel(mailSettingsMessages.maxMegabytes(), { exact: true }).fill('16');
    await row(mailSettingsMessages.maxMegabytes()).getByText(settingsFormMessages.takesEffectImmediately()).waitFor();
    await page.getByText(settingsFormMessages.advanced(), { exact: true }).click();
    await page.getByText(mailSettingsMessages.groupMailServer(), { exact: true }).click();
    await page.getByLabel(mailSettingsMessages.hostName(), { exact: true }).fill('mail.example.org');
    await row(mailSettingsMessages.hostName()).getByText(settingsFormMessages.savingRestartsTheService()).waitFor();
    await page.getByLabel(mailSettingsMessages.hostName(), { exact: true }).fill('localhost');
    await page.getByRole('button', { name: settingsFormMessages.saveChanges() }).click();
    await page.getByText(settingsFormMessages.saved(), { exact: true }).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('groups fields by heading, and shows dependent fields once they have an effect', async () => {
    await using real = await openPages({ services: [inbox, mail, control] });
    await using visit = await real.visit('/settings/mail');
    const { page } = visit;
    const senders = page.getByRole('group', { name: mailSettingsMessages.groupAccess() });
    const logins = senders.getByRole('button', { name: settingsFormMessages.addARow() });
    await senders.getByLabel(mailSettingsMessages.signIn()).waitFor();
    expect(await logins.count()).toBe(0);
    await senders.getByLabel(mailSettingsMessages.signIn()).selectOption(mailSettingsMessages.signInOptional());
    await logins.waitFor();
    await page.getByRole('button', { name: settingsFormMessages.discard() }).click();
    await logins.waitFor({ state: 'detached' });
    expect(visit.complaints).toEqual([]);
  });

  it('saves a change of each kind and names the restarted services', async () => {
    await using visit = await pages.visit('/settings/moody');
    const { page } = visit;
    const save = page.getByRole('button', { name: settingsFormMessages.saveChanges() });
    await page.getByLabel('Limit').fill('7');
    await page.getByRole('switch', { name: 'Loud' }).check();
    await page.getByLabel('Level').selectOption('high');
    await page.getByLabel('Words').fill('fog\nhorn\n');
    await page.getByLabel('Key').fill('s3cret-value');
    await page.getByRole('button', { name: settingsFormMessages.addARow() }).click();
    const row = page.getByRole('group', { name: settingsFormMessages.titleRow({ title: 'People', row: '1' }) });
    await row.getByLabel('name').fill('Ada');
    await row.getByLabel('age').fill('36');
    await page.getByLabel('Extra').fill('{"a": 1}');
    await save.press('Enter');
    await page.getByText(savedNotice).waitFor();
    await expect.poll(() => save.isDisabled()).toBe(true);
    // The focus stays where it was.
    expect(await save.evaluate((button) => button === document.activeElement)).toBe(true);
    expect(file()).toMatch(/limit: 7/);
    expect(file()).toMatch(/horn/);
    expect(file()).toMatch(/age: 36/);

    await page.reload();
    expect(await page.getByLabel('Limit').inputValue()).toBe('7');
    expect(await page.getByLabel('Words').inputValue()).toBe('fog\nhorn');
    expect(await page.getByLabel('Key').inputValue()).toBe('');
    expect(await page.getByLabel('Key').getAttribute('placeholder')).toMatch(/^Set\./);
    expect(await page.content()).not.toContain('s3cret-value');
    expect(visit.complaints).toEqual([]);
  });

  it('sends nothing without changes, and saves when Enter is pressed in a field', async () => {
    await using visit = await pages.visit('/settings/moody');
    const { page } = visit;
    const sent: unknown[] = [];
    page.on('request', (request) => {
      if (request.method() === 'PATCH') sent.push(request.postDataJSON());
    });
    // Like Enter in a form without a save button.
    await page.getByLabel('Name').evaluate((field: HTMLInputElement) => field.form?.requestSubmit());
    await page.getByLabel('Name').fill('lantern');
    await page.getByLabel('Name').press('Enter');
    await page.getByText(savedNotice).waitFor();
    expect(sent).toEqual([{ name: 'lantern' }]);
  });

  it('shows errors next to their fields and keeps the input', async () => {
    await using visit = await pages.visit('/settings/moody');
    const { page } = visit;
    await page.getByLabel('Limit').fill('lots');
    await page.getByRole('button', { name: settingsFormMessages.saveChanges() }).click();
    await expect.poll(() => page.getByLabel('Limit').getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('Limit').inputValue()).toBe('lots');
    const described = (await page.getByLabel('Limit').getAttribute('aria-describedby')) ?? '';
    const message = page.locator(`#${described.split(' ').at(-1) ?? ''}`);
    expect(await message.innerText()).not.toBe('');
    await page.getByLabel('Limit').fill('4');
    await page.getByRole('button', { name: settingsFormMessages.saveChanges() }).click();
    await page.getByText(savedNotice).waitFor();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('locks settings of the environment, and names the variable', async () => {
    await using visit = await pages.visit('/settings/moody');
    const { page } = visit;
    expect(await page.getByLabel('Folder').isDisabled()).toBe(true);
    expect(await page.getByLabel('Folder').inputValue()).toBe('/srv/moody');
    const reason = (await page.getByLabel('Folder').getAttribute('aria-describedby')) ?? '';
    expect(await page.locator(`#${reason.split(' ').at(-1) ?? ''}`).innerText()).toContain('MOODY_FOLDER');
  });

  it('resets a field to its default', async () => {
    await using visit = await pages.visit('/settings/moody');
    const { page } = visit;
    await page.getByLabel('Name').fill('lantern');
    await page.getByRole('button', { name: settingsFormMessages.saveChanges() }).click();
    await page.getByText(savedNotice).waitFor();
    await page.getByRole('button', { name: matching(settingsFormMessages.backToDefault({ title: 'Name' })) }).click();
    expect(await page.getByLabel('Name').inputValue()).toBe('harbour');
    await page.getByRole('button', { name: settingsFormMessages.saveChanges() }).click();
    await page.getByText(savedNotice).waitFor();
    expect(file()).not.toContain('lantern');
  });

  it('shows changes of another window without losing local edits', async () => {
    await using visit = await pages.visit('/settings/moody');
    await using other = await pages.visit('/settings/moody');
    await visit.page.getByLabel('Name').fill('typed here');
    await other.page.getByLabel('Limit').fill('9');
    await other.page.getByRole('button', { name: settingsFormMessages.saveChanges() }).click();
    await other.page.getByText(savedNotice).waitFor();
    await expect.poll(() => visit.page.getByLabel('Limit').inputValue()).toBe('9');
    expect(await visit.page.getByLabel('Name').inputValue()).toBe('typed here');
  });

  it('keeps folded sections open while they are edited, and when changes are discarded', async () => {
    await using visit = await pages.visit('/settings');
    const { page } = visit;
    await page.getByText(settingsMessages.setUpFile(), { exact: true }).click();
    const field = page.getByLabel(dataSettingsMessages.databaseUrl(), { exact: true });
    await field.click();
    await page.keyboard.type('postgresql://quay');
    expect(await field.inputValue()).toBe('postgresql://quay');
    await page.getByRole('button', { name: settingsFormMessages.discard() }).click();
    await expect.poll(() => field.inputValue()).toBe('');
    expect(await field.isVisible()).toBe(true);
    expect(visit.complaints).toEqual([]);
  });

  it('keeps input that is typed while saving', async () => {
    await using visit = await pages.visit('/settings/moody');
    const { page } = visit;
    const [sent, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route('**/api/settings/moody', async (route) => {
      sent.resolve();
      await answered.promise;
      await route.continue();
    });
    await page.getByLabel('Name').fill('one');
    await page.getByLabel('Limit').fill('7');
    await page.getByLabel('Words').fill('fog');
    await page.getByRole('button', { name: settingsFormMessages.saveChanges() }).click();
    await sent.promise;
    await page.getByLabel('Name').fill('one and two');
    // The former value is a change as well, after the other one was saved.
    await page.getByLabel('Limit').fill('3');
    answered.resolve();
    await page.getByText(savedNotice).waitFor();
    expect(file()).toMatch(/limit: 7/);
    expect(await page.getByLabel('Name').inputValue()).toBe('one and two');
    expect(await page.getByLabel('Limit').inputValue()).toBe('3');
    await page.getByRole('button', { name: settingsFormMessages.saveChanges() }).click();
    await expect.poll(file).toMatch(/name: one and two/);
    await expect
      .poll(() => page.getByRole('button', { name: settingsFormMessages.saveChanges() }).isDisabled())
      .toBe(true);
    expect(file()).not.toMatch(/limit: 7/);
    expect(visit.complaints).toEqual([]);
  });

  it('offers to save after a change, and keeps the focus in the form when it is discarded', async () => {
    await using visit = await pages.visit('/settings/moody');
    const { page } = visit;
    const save = page.getByRole('button', { name: settingsFormMessages.saveChanges() });
    await page.getByLabel('Name').waitFor();
    expect(await save.count()).toBe(0);
    await page.getByLabel('Name').fill('typed here');
    await save.waitFor();
    // When the former value is typed again, the content below does not move.
    await page.getByLabel('Name').fill('harbour');
    await expect.poll(() => save.isDisabled()).toBe(true);
    await page.getByLabel('Name').fill('typed again');
    await page.getByRole('button', { name: settingsFormMessages.discard() }).click();
    await save.waitFor({ state: 'detached' });
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('FORM');
  });

  it('distinguishes its search from that of the log', async () => {
    await using visit = await pages.visit('/log');
    const { page } = visit;
    const placeholder = (name: string): Promise<string | null> =>
      page.getByRole('searchbox', { name, exact: true }).getAttribute('placeholder');
    expect([
      await placeholder(settingsMessages.searchTheSettings()),
      await placeholder(logMessages.searchTheLog()),
    ]).toEqual([settingsMessages.searchSettings(), logMessages.searchTheLog()]);
  });

  it('requires a confirmation before a reload with unsaved changes, and not after they were discarded', async () => {
    await using visit = await pages.visit('/settings/moody');
    const { page } = visit;
    const showsConfirmation = (): Promise<boolean> =>
      page.evaluate(() => !dispatchEvent(new Event('beforeunload', { cancelable: true })));
    await page.getByLabel('Name').fill('typed here');
    expect(await showsConfirmation()).toBe(true);
    await page.getByRole('button', { name: settingsFormMessages.discard() }).click();
    expect(await showsConfirmation()).toBe(false);
  });

  it('navigates between sections by path', async () => {
    await using visit = await pages.visit('/settings');
    const { page } = visit;
    await page.getByRole('navigation', { name: frameMessages.sections() }).getByRole('link', { name: 'Moody' }).click();
    await page.getByRole('heading', { name: 'Moody' }).waitFor();
    await expect.poll(() => page.url()).toBe(`${pages.url}/settings/moody`);
    await page.goBack();
    await page.getByLabel(hostSettingsMessages.openBrowser()).waitFor();
  });

  it('keeps unsaved input while another page is open', async () => {
    await using visit = await pages.visit('/settings/moody');
    const { page } = visit;
    await page.getByLabel('Name').fill('typed here');
    await page
      .getByRole('navigation', { name: frameMessages.homeportItself() })
      .getByRole('link', { name: frameMessages.logTitle() })
      .click();
    await page.getByRole('heading', { level: 1, name: frameMessages.logTitle() }).waitFor();
    await page.goBack();
    expect(await page.getByLabel('Name').inputValue()).toBe('typed here');
    await page.getByRole('button', { name: settingsFormMessages.discard() }).click();
    expect(await page.getByLabel('Name').inputValue()).toBe('harbour');
    expect(visit.complaints).toEqual([]);
  });

  it('marks pages and tabs with unsaved changes', async () => {
    await using real = await openPages({ services: [inbox, mail, control] });
    await using visit = await real.visit('/settings/mail');
    const { page } = visit;
    const section = page
      .getByRole('navigation', { name: frameMessages.sections() })
      .getByRole('link', { name: /^Mail/ });
    await page.getByLabel(mailSettingsMessages.maxMegabytes(), { exact: true }).fill('16');
    const log = page
      .getByRole('navigation', { name: frameMessages.homeportItself() })
      .getByRole('link', { name: frameMessages.logTitle() });
    await log.click();
    await page.getByRole('heading', { level: 1, name: frameMessages.logTitle() }).waitFor();
    await expect.poll(() => section.textContent()).toContain(frameMessages.unsavedSuffix());
    expect(await log.textContent()).not.toContain(frameMessages.unsavedSuffix());
    await page
      .getByRole('navigation', { name: frameMessages.homeport(), exact: true })
      .getByRole('link', { name: frameMessages.deliveryTitle() })
      .click();
    await page
      .getByRole('tab', { name: matching(`${settingsMessages.settings()}${anyText}${frameMessages.unsavedSuffix()}`) })
      .click();
    await page.getByRole('button', { name: settingsFormMessages.discard() }).click();
    await page.getByRole('tab', { name: settingsMessages.settings(), exact: true }).waitFor();
    await page.goto(`${real.url}/settings/log`);
    await section.waitFor();
    expect(await section.textContent()).not.toContain(frameMessages.unsavedSuffix());
    // A change of general settings marks that page.
    await page.goto(`${real.url}/settings`);
    await page.getByLabel(hostSettingsMessages.sessionDays(), { exact: true }).fill('30');
    await log.click();
    const general = page
      .getByRole('navigation', { name: frameMessages.homeportItself() })
      .getByRole('link', { name: startingWith(settingsMessages.general()) });
    await expect.poll(() => general.textContent()).toContain(frameMessages.unsavedSuffix());
    // The host of this test has no service for destinations, which the Delivery page requests.
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('finds a setting by text and focuses its field', async () => {
    await using visit = await pages.visit('/settings');
    const { page } = visit;
    await page.getByRole('searchbox', { name: settingsMessages.searchTheSettings() }).fill('backups keep');
    const results = page.getByRole('list', { name: settingsMessages.settingsThatFit() });
    await results.getByRole('link', { name: hostSettingsMessages.backupKeep() }).click();
    await page.getByRole('heading', { level: 1, name: frameMessages.backupTitle() }).waitFor();
    const field = page.getByLabel(hostSettingsMessages.backupKeep());
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    await expect.poll(() => page.url()).toBe(`${pages.url}/settings/backup/backupKeep`);
    // Enter opens the first result.
    await page.goto(`${pages.url}/settings`);
    await page.getByRole('searchbox', { name: settingsMessages.searchTheSettings() }).fill('backups keep');
    await results.getByRole('link').first().waitFor();
    await page.keyboard.press('Enter');
    await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
    // Folded fields are opened, and former paths are redirected.
    await page.goto(`${pages.url}/settings/host/databaseUrl`);
    const folded = page.getByLabel(hostSettingsMessages.databaseUrl());
    await expect.poll(() => folded.evaluate((element) => element === document.activeElement)).toBe(true);
    await page.goto(`${pages.url}/settings/host/trustedProxies`);
    await page
      .getByRole('heading', { level: 1, name: frameMessages.networkTitle() })
      .or(page.getByText('services you share'))
      .first()
      .waitFor();
    await expect.poll(() => page.url()).toBe(`${pages.url}/network/settings/trustedProxies`);
    expect(visit.complaints.filter((line) => !line.includes('404'))).toEqual([]);
  });
});

describe.skipIf(noBrowser)('the Settings pages of real services', () => {
  it('groups the fields of Streaming by service, and unfolds the requested one', async () => {
    await using real = await openPages({ services: [addons, control] });
    await using visit = await real.visit('/settings/addons');
    const { page } = visit;
    await page.getByText(settingsFormMessages.advanced(), { exact: true }).click();
    const keys = page.getByRole('group', { name: 'TorBox' });
    await page.getByText('TorBox', { exact: true }).click();
    await keys.getByLabel(addonsTexts.apiKey()).fill('a key');
    await page
      .getByLabel(settingsMessages.searchTheSettings())
      .fill(addonsSettingsMessages.serviceUrl({ name: 'Real-Debrid' }));
    await page.getByRole('link', { name: addonsSettingsMessages.serviceUrl({ name: 'Real-Debrid' }) }).click();
    const address = page.getByRole('group', { name: 'Real-Debrid' }).getByLabel('URL');
    await expect.poll(() => address.evaluate((element) => element === document.activeElement)).toBe(true);
    // Unsaved changes stay visible.
    expect(await keys.getByLabel(addonsTexts.apiKey()).inputValue()).toBe('a key');
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('shows seconds for milliseconds, and rejects invalid values in seconds', async () => {
    await using real = await openPages({ services: [addons, control] });
    await using visit = await real.visit('/settings/addons');
    const { page } = visit;
    await page.getByText(settingsFormMessages.advanced(), { exact: true }).click();
    await page.getByText(addonsSettingsMessages.groupUpstreamAddons(), { exact: true }).click();
    const timeoutField = page.getByLabel(addonsSettingsMessages.timeout(), { exact: true });
    expect(await timeoutField.inputValue()).toBe('7');
    await timeoutField.fill('0.5');
    await page.getByRole('button', { name: settingsFormMessages.saveChanges() }).click();
    await page.getByText(/\b1 s\b/).waitFor();
    await timeoutField.fill('8.5');
    await page.getByRole('button', { name: settingsFormMessages.saveChanges() }).click();
    await page.getByText(settingsFormMessages.saved(), { exact: false }).waitFor();
    expect(readFileSync(join(real.host.dataDir, 'homeport.yaml'), 'utf8')).toMatch(/timeout: 8500/);
    expect(await timeoutField.inputValue()).toBe('8.5');
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('changes the theme in General for this browser only', async () => {
    await using real = await openPages({ services: [addons, control] });
    await using visit = await real.visit('/settings');
    const { page } = visit;
    const theme = page.getByRole('radiogroup', { name: settingsMessages.theme() });
    // Settings of the desktop app are hidden in browsers, and the network is not listed as a service.
    await page.getByLabel(hostSettingsMessages.openBrowser()).waitFor();
    expect(await page.getByLabel(hostSettingsMessages.keyring()).count()).toBe(0);
    const homeportNavigation = page.getByRole('navigation', { name: frameMessages.homeportItself() });
    // Settings of the web interface are on the same page, regardless of the path.
    await page.goto(`${real.url}/settings/control/port`);
    await expect.poll(() => page.getByLabel(hostSettingsMessages.port(), { exact: true }).isVisible()).toBe(true);
    expect(
      await homeportNavigation.getByRole('link', { name: settingsMessages.general() }).getAttribute('aria-current'),
    ).toBe('page');
    const search = page.getByRole('searchbox', { name: settingsMessages.searchTheSettings() });
    await search.fill('keyring');
    await page.getByText(settingsMessages.noSettingWords()).waitFor();
    await search.fill('dark');
    await page
      .getByRole('list', { name: settingsMessages.settingsThatFit() })
      .getByRole('link', { name: settingsMessages.theme() })
      .click();
    const system = theme.getByRole('radio', { name: settingsMessages.asTheSystem() });
    await expect.poll(() => system.evaluate((element) => element === document.activeElement)).toBe(true);
    await theme.getByRole('radio', { name: settingsMessages.dark() }).check();
    const getBackground = () => page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    await expect.poll(getBackground).toBe('oklch(0.19 0.018 245)');
    await page.reload();
    expect(await theme.getByRole('radio', { name: settingsMessages.dark() }).isChecked()).toBe(true);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('changes the density for this browser only, with less space between rows', async () => {
    await using real = await openPages({ services: [control] });
    await using visit = await real.visit('/settings');
    const { page } = visit;
    const search = page.getByRole('searchbox', { name: settingsMessages.searchTheSettings() });
    await search.fill('compact');
    await page
      .getByRole('list', { name: settingsMessages.settingsThatFit() })
      .getByRole('link', { name: settingsMessages.density() })
      .click();
    const density = page.getByRole('radiogroup', { name: settingsMessages.density() });
    const getTarget = () =>
      page.evaluate(() => getComputedStyle(document.documentElement).getPropertyValue('--target'));
    expect(await getTarget()).toBe('36px');
    await density.getByRole('radio', { name: settingsMessages.compact() }).check();
    await expect.poll(getTarget).toBe('30px');
    await page.reload();
    expect(await density.getByRole('radio', { name: settingsMessages.compact() }).isChecked()).toBe(true);
    await expect.poll(getTarget).toBe('30px');
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('sets quiet hours in a single form', async () => {
    await using real = await openPages({ services: [popups, inbox, control] });
    await using visit = await real.visit('/settings/notifications');
    const { page } = visit;
    await page.getByRole('button', { name: settingsFormMessages.addQuietHours() }).click();
    const row = page.getByRole('group', {
      name: settingsFormMessages.titleRow({ title: settingsFormMessages.quietHours(), row: '1' }),
    });
    for (const day of ['Sat', 'Sun']) await row.getByRole('button', { name: day }).click();
    await row.getByLabel(settingsFormMessages.from()).fill('21:30');
    await row.getByLabel(settingsFormMessages.to(), { exact: true }).fill('06:45');
    const file = join(real.host.dataDir, 'homeport.yaml');
    await expect.poll(() => readFileSync(file, 'utf8')).toContain('mon-fri 21:30-06:45');
    await page.reload();
    expect(await row.getByRole('button', { name: 'Sat' }).getAttribute('aria-pressed')).toBe('false');
    expect(await row.getByLabel(settingsFormMessages.from()).inputValue()).toBe('21:30');
    expect(visit.complaints).toEqual([]);
  });
});

describe.skipIf(noBrowser)('the remedy of a problem', () => {
  let real: Pages;
  beforeAll(async () => {
    real = await openPages({ services: [downloads, control] });
  });
  afterAll(() => real[Symbol.asyncDispose]());

  it.each([
    [getFailureAdvice({ message: '', failure: 'disk_full' }).page?.href, 'Download folder'],
    [getFailureAdvice({ message: '', failure: 'folder_not_writable' }).page?.href, 'Download folder'],
    [getFailureAdvice({ message: '', failure: 'internal_address' }).page?.href, 'Allow private addresses'],
    ['/settings/engines/installEngines', 'Install missing engines'],
    ['/settings/engines/enginesFolder', 'Engines folder'],
    ['/settings/engines/ytDlpPath', 'Path to yt-dlp'],
  ])('opens the field %s, marked and focused', async (href = '', label) => {
    await using visit = await real.visit(href);
    const field = visit.page.getByLabel(label, { exact: true });
    // A locked control cannot have the focus, so its row does.
    const arrived = (): Promise<boolean> =>
      field.evaluate((element) => {
        const row = element.closest('.row');
        return document.activeElement === ((element as HTMLInputElement).disabled ? row : element);
      });
    await expect.poll(arrived).toBe(true);
    const getBackground = (of: string): Promise<string | undefined> =>
      field.evaluate((element, name) => {
        const row = element.closest(name);
        return row === null ? undefined : getComputedStyle(row).backgroundColor;
      }, of);
    expect(await getBackground('.row')).toMatch(/^(?!rgba\(0, 0, 0, 0\))\w+\(/);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });
});

describe.skipIf(noBrowser)('the desktop app', () => {
  it('selects a folder instead of typing it', async () => {
    await using pages = await openPages({ services: [downloads, control] });
    await using visit = await pages.visit('/settings/downloads', {
      before: () => {
        Object.assign(window, { bridge: { pickFolder: async ({ from }: { from: string }) => `${from}/Videos` } });
      },
    });
    const { page } = visit;
    await page.getByText(settingsFormMessages.advanced(), { exact: true }).click();
    for (const fold of ['Folders', 'Video, audio and subtitles']) await page.getByText(fold, { exact: true }).click();
    const field = page.getByLabel(downloadsSettingsMessages.tempDir(), { exact: true });
    await field.locator('xpath=..').getByRole('button', { name: partsMessages.choose() }).click();
    await expect.poll(() => field.inputValue()).toBe('/Videos');
    // This setting is locked.
    expect(await page.getByRole('button', { name: partsMessages.choose() }).first().isDisabled()).toBe(true);
    await page.getByLabel(downloadsSettingsMessages.quality(), { exact: true }).selectOption({ label: '720p' });
    const parts = page.getByRole('group', { name: downloadsSettingsMessages.sponsorblockCategories() });
    await parts.getByLabel(downloadsSettingsMessages.sponsorblockCategoriesSponsor(), { exact: true }).uncheck();
    await parts.getByLabel(downloadsSettingsMessages.sponsorblockCategoriesOutro()).check();
    await field.fill('');
    await page.getByRole('button', { name: settingsFormMessages.saveChanges() }).click();
    await page.getByText(settingsFormMessages.saved(), { exact: true }).waitFor();
    const written = readFileSync(join(pages.host.dataDir, 'homeport.yaml'), 'utf8');
    expect(written).toMatch(/quality: 720p/);
    expect(written).toMatch(/sponsorblockCategories:\s+- selfpromo\s+- interaction\s+- outro\s/);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('applies its own settings immediately, and shows their current values', async () => {
    await using pages = await openPages({ services: [control] });
    await using visit = await pages.visit('/settings', {
      before: () => {
        const state = { login: false, choice: 'keep' };
        Object.assign(window, {
          bridge: {
            startsAtLogin: async () => state.login,
            startAtLogin: async ({ on }: { on: boolean }) => void (state.login = on),
            whenClosed: async () => ({ choice: state.choice, inTray: false }),
            setWhenClosed: async ({ choice }: { choice: string }) => void (state.choice = choice),
          },
          desktop: state,
        });
      },
    });
    const { page } = visit;
    await page.getByLabel(hostSettingsMessages.keyring()).waitFor();
    const choices = page.getByRole('radiogroup', { name: settingsMessages.whenWindowClosed() });
    await expect.poll(() => choices.getByRole('radio', { name: settingsMessages.closeKeep() }).isChecked()).toBe(true);
    await choices.getByRole('radio', { name: settingsMessages.closeAsk() }).check();
    const login = page.getByRole('switch', { name: settingsMessages.startAtSignIn() });
    await login.click();
    await expect.poll(() => login.getAttribute('aria-checked')).toBe('true');
    expect(await page.evaluate(() => (window as unknown as { desktop: unknown }).desktop)).toEqual({
      login: true,
      choice: 'ask',
    });
    await page.getByRole('searchbox', { name: settingsMessages.searchTheSettings() }).fill('autostart');
    await page.getByRole('link', { name: settingsMessages.startAtSignIn() }).click();
    await expect.poll(() => login.evaluate((element) => element === document.activeElement)).toBe(true);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });
});
