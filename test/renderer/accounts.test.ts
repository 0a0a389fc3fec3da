import * as frameMessages from '#messages/frame';
import * as manifestsMessages from '#messages/manifests';
import * as accountProblems from '#messages/account-problems';
import * as controlProblems from '#messages/control-problems';
import * as accessTokensMessages from '#messages/access-tokens';
import * as accountsMessages from '#messages/accounts';
import * as grantsMessages from '#messages/grants';
import * as partsMessages from '#messages/parts';
import * as stateMessages from '#messages/state';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { capitalize } from '../../messages/format.ts';
import type { Account } from '../../services/contracts/control/accounts.ts';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { noBrowser } from '../support/browser.ts';
import { api } from '../support/api.ts';
import { adminAuthorization } from '../support/host.ts';
import { anyText, containing, startingWith } from '../support/message-patterns.ts';
import { seriousFindings } from './axe.ts';
import { expectFits } from './fits.ts';
import { closeToasts, getToast } from './toasts.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('accounts page', () => {
  let pages: Pages;
  let readyMade: readonly Account[];
  const accounts = async (): Promise<readonly Account[]> =>
    (await api<{ accounts: Account[] }>(pages.url, '/api/accounts')).accounts;
  beforeAll(async () => {
    pages = await openPages({ services: [push, inbox, control] });
    readyMade = await accounts();
  });
  afterAll(() => pages[Symbol.asyncDispose]());
  /** Each finds the accounts of a new installation. */
  afterEach(async () => {
    const change = (name: string, fields: object): Promise<unknown> =>
      api(pages.url, `/api/accounts/${name}`, { method: 'PATCH', body: JSON.stringify(fields) });
    const isDeclared = ({ provisioned }: Account): boolean => provisioned === true;
    if ((await accounts()).some(isDeclared)) {
      const body = JSON.stringify({ authUsers: null, authTokens: null });
      await api(pages.url, '/api/settings/host', { method: 'PATCH', body });
      await expect.poll(async () => (await accounts()).some(isDeclared)).toBe(false);
    }
    const accountsByName = new Map(readyMade.map((account) => [account.name, account]));
    const now = await accounts();
    for (const { name } of now.filter((account) => !accountsByName.has(account.name))) {
      await api(pages.url, `/api/accounts/${name}`, { method: 'DELETE' });
    }
    for (const { name, enabled } of now) {
      const before = accountsByName.get(name);
      if (before !== undefined && before.enabled !== enabled) await change(name, { enabled: before.enabled });
    }
    await change('*', { grants: [] });
  });

  const make = (name: string, overrides: object = {}): Promise<unknown> =>
    api(pages.url, '/api/accounts', { method: 'POST', body: JSON.stringify({ name, ...overrides }) });

  it('lists people, disabled service accounts and the grants of anyone', async () => {
    await using visit = await pages.visit('/settings/accounts');
    const { page } = visit;
    const people = page.getByRole('list', { name: accountsMessages.people() }).getByRole('listitem');
    await people.filter({ hasText: 'ada' }).getByText(accountsMessages.you()).waitFor();
    const programs = page.getByRole('list', { name: accountsMessages.serviceAccounts() }).getByRole('listitem');
    expect(await programs.count()).toBe(5);
    const backup = programs.filter({ hasText: 'backup-jobs' });
    await backup.getByText(manifestsMessages.backupJobsAccount().replace(/\.$/, '')).waitFor();
    expect(await backup.getByRole('switch').getAttribute('aria-checked')).toBe('false');
    await page.getByText(accountsMessages.noDefaultGrants()).waitFor();
    await backup.getByRole('switch').click();
    await page.getByText(accountsMessages.nameIsOn({ name: 'backup-jobs' })).waitFor();
    await backup.getByRole('switch').click();
    const confirmation = page.getByRole('dialog', { name: accountsMessages.switchNameOff({ name: 'backup-jobs' }) });
    expect(await seriousFindings(page)).toEqual([]);
    await confirmation.getByRole('button', { name: accountsMessages.cancel() }).click();
    expect(await backup.getByRole('switch').getAttribute('aria-checked')).toBe('true');
    expect(visit.complaints).toEqual([]);
  });

  it('creates a person who can sign in, and keeps the input when the name is invalid', async () => {
    await using visit = await pages.visit('/settings/accounts');
    const { page } = visit;
    await page.getByRole('button', { name: accountsMessages.newAccount() }).click();
    const dialog = page.getByRole('dialog', { name: accountsMessages.newAccount() });
    await dialog.getByLabel(accountsMessages.name()).fill('not a name');
    await dialog.getByLabel(accountsMessages.password()).fill('harbour light');
    await dialog.getByRole('button', { name: accountsMessages.makeTheAccount() }).click();
    await dialog.getByText(accountProblems.nameInvalid()).waitFor();
    expect(await dialog.getByLabel(accountsMessages.password()).inputValue()).toBe('harbour light');
    await dialog.getByLabel(accountsMessages.name()).fill('grace');
    await dialog.getByRole('button', { name: accountsMessages.makeTheAccount() }).click();
    await page.getByRole('heading', { level: 2, name: 'grace' }).waitFor();
    await expect.poll(() => new URL(page.url()).pathname).toBe('/settings/accounts/grace');
    const response = await fetch(`${pages.url}/api/session`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'grace', password: 'harbour light' }),
    });
    expect(response.status).toBe(200);
    await page.getByLabel(accountsMessages.newPassword(), { exact: true }).fill('another light');
    await page.getByRole('button', { name: accountsMessages.saveThePassword() }).click();
    await page.getByText(accountsMessages.passwordAccountChanged({ account: 'grace' })).waitFor();
    expect(visit.complaints.filter((line) => !line.startsWith('Failed to load resource'))).toEqual([]);
  });

  it('marks accounts declared in homeport.yaml and does not change them', async () => {
    const token = `tk_${'d'.repeat(29)}`;
    const hash = '$2a$10$N9qo8uLOickgx2ZMRZoMyeIjZAgcfl7p92ldGxad68LJZdL17lhWy';
    const body = JSON.stringify({
      authUsers: [{ name: 'phil', passwordHash: hash }],
      authTokens: [{ user: 'phil', token, label: 'from the file' }],
    });
    await api(pages.url, '/api/settings/host', { method: 'PATCH', body });
    await using visit = await pages.visit('/accounts');
    const { page } = visit;
    const people = page.getByRole('list', { name: accountsMessages.people() }).getByRole('listitem');
    await people.filter({ hasText: 'phil' }).getByText(accountsMessages.fromHomeportYaml()).waitFor();
    await people.filter({ hasText: 'phil' }).getByRole('link').click();
    await page.getByText(accountsMessages.declaredHint()).waitFor();
    await page
      .getByRole('list', { name: accessTokensMessages.tokens() })
      .getByText(accountsMessages.fromHomeportYaml())
      .waitFor();
    expect(await page.getByRole('switch', { name: accountsMessages.nameOn({ name: 'phil' }) }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: accountsMessages.removeThisAccount() }).count()).toBe(0);
    expect(await page.getByLabel(accountsMessages.newPassword(), { exact: true }).count()).toBe(0);
    for (const screen of [screens[0], screens[1]]) {
      await page.setViewportSize(screen);
      await page.emulateMedia({ colorScheme: screen.dark ? 'dark' : 'light' });
      await expectFits(visit, 'accounts-declared', screen);
    }
    expect(await seriousFindings(page)).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('creates a working token, shows it once with its last use, and revokes it', async () => {
    await make('nas', { kind: 'service', grants: [{ service: 'push', resource: 'nas-*', permission: 'write' }] });
    await using visit = await pages.visit('/settings/accounts/nas');
    const { page } = visit;
    await page.getByLabel(accessTokensMessages.nameOfTheToken()).fill('cron');
    await page.getByLabel(accessTokensMessages.whatItMayDo(), { exact: true }).selectOption('all');
    await page.getByRole('button', { name: accessTokensMessages.makeAToken() }).click();
    const text = await page.getByRole('status').locator('code').filter({ hasText: /^tk_/ }).innerText();
    const publish = (topic: string): Promise<Response> =>
      fetch(`${pages.host.url('push')}/${topic}`, {
        method: 'POST',
        body: 'hello',
        headers: { Authorization: `Bearer ${text}` },
      });
    expect((await publish('nas-low-backup')).status).toBe(200);
    expect((await publish('other')).status).toBe(403);
    await page.reload();
    const row = page
      .getByRole('list', { name: accessTokensMessages.tokens() })
      .getByRole('listitem')
      .filter({ hasText: 'cron' });
    await row.getByText(containing(accessTokensMessages.lastUsed())).waitFor();
    expect(await page.getByText(text).count()).toBe(0);
    await row.getByRole('button', { name: accessTokensMessages.revokeToken({ token: 'cron' }) }).click();
    await page.getByText(accessTokensMessages.tokenRevoked({ token: 'cron' })).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await row.getByRole('button', { name: accessTokensMessages.revokeToken({ token: 'cron' }) }).click();
    const answered = async (): Promise<number> => (await publish('nas-low-backup')).status;
    await expect.poll(() => closeToasts(page).then(answered)).toBe(401);
    await page.getByText(accessTokensMessages.noTokenYet()).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('undoes and revokes for the right account after another one was opened', async () => {
    const grants = [{ service: 'push', resource: 'nas-*', permission: 'write' }];
    await make('nas', { kind: 'service', grants });
    await make('cam', { kind: 'service' });
    await using visit = await pages.visit('/settings/accounts/nas');
    const { page } = visit;
    const goTo = async (name: string): Promise<void> => {
      await page.getByRole('link', { name: accountsMessages.allAccounts() }).click();
      await page.getByRole('list', { name: accountsMessages.serviceAccounts() }).getByRole('link', { name }).click();
      await page.getByRole('heading', { level: 2, name }).waitFor();
    };
    const fetchGrants = async (name: string) => (await accounts()).find((entry) => entry.name === name)?.grants;
    await page
      .getByRole('button', { name: startingWith(grantsMessages.takeAwayGrant({ grant: `${anyText}nas-*` })) })
      .click();
    await page.getByText(grantsMessages.noGrantsYet()).waitFor();
    await goTo('cam');
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await expect.poll(() => fetchGrants('nas')).toEqual(grants);
    expect(await fetchGrants('cam')).toEqual([]);
    await goTo('nas');
    await page.getByLabel(accessTokensMessages.nameOfTheToken()).fill('cron');
    await page.getByLabel(accessTokensMessages.whatItMayDo(), { exact: true }).selectOption('all');
    await page.getByRole('button', { name: accessTokensMessages.makeAToken() }).click();
    await page.getByRole('button', { name: accessTokensMessages.revokeToken({ token: 'cron' }) }).click();
    await getToast(page, 'cron stops working').waitFor();
    await goTo('cam');
    const fetchTokens = async () => (await api<{ tokens: unknown[] }>(pages.url, '/api/accounts/nas/tokens')).tokens;
    await expect.poll(() => closeToasts(page).then(fetchTokens)).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('creates a token with a single scope', async () => {
    await make('bob', { grants: [{ service: 'push', resource: '*', permission: 'read-write' }] });
    await using visit = await pages.visit('/settings/accounts/bob');
    const { page } = visit;
    await page.getByLabel(accessTokensMessages.nameOfTheToken()).fill('nas');
    await page
      .getByLabel(accessTokensMessages.whatItMayDo(), { exact: true })
      .selectOption(manifestsMessages.pushGrant());
    await page.getByLabel(accessTokensMessages.whichOfThem()).fill('backup-*');
    await page.getByLabel(accessTokensMessages.whatItMayDoThere()).selectOption(grantsMessages.write());
    await page.getByRole('button', { name: accessTokensMessages.makeAToken() }).click();
    const row = page.getByRole('list', { name: accessTokensMessages.tokens() }).getByRole('listitem');
    await row
      .getByText(accessTokensMessages.onlyService({ service: 'Message topics backup-*', resourceLabel: 'Write' }))
      .waitFor();
    const text = (await page.locator('code').filter({ hasText: /^tk_/ }).textContent()) ?? '';
    const publish = async (topic: string): Promise<number> =>
      (
        await fetch(`${pages.host.url('push')}/${topic}`, {
          method: 'POST',
          headers: { Authorization: `Bearer ${text}` },
        })
      ).status;
    expect([await publish('backup-nas'), await publish('alerts')]).toEqual([200, 403]);
    await row.getByText('expires', { exact: false }).waitFor();
    // The selection is empty again for the next token.
    await page.getByRole('button', { name: accessTokensMessages.makeAToken() }).click();
    const choice = page.getByLabel(accessTokensMessages.whatItMayDo(), { exact: true });
    expect(await choice.evaluate((select: HTMLSelectElement) => select.validity.valueMissing)).toBe(true);
    expect(await row.count()).toBe(1);
    expect(visit.complaints).toEqual([]);
  });

  it('adds a grant, checks its access, and undoes it', async () => {
    await make('nas', { kind: 'service' });
    await using visit = await pages.visit('/settings/accounts/nas');
    const { page } = visit;
    const question = { subject: 'nas', verb: 'publish', resource: 'nas-high-backup', reason: anyText };
    const getAnswer = (allowed: boolean): RegExp =>
      startingWith(accountsMessages.accessAnswer({ ...question, allowed: String(allowed) }));
    const sendRequest = async (): Promise<void> => {
      await page.getByLabel(accountsMessages.name(), { exact: true }).fill('nas-high-backup');
      await page.getByRole('button', { name: accountsMessages.ask(), exact: true }).click();
    };
    await page.getByText(accountsMessages.trySubjectDo({ subject: 'nas' })).click();
    await sendRequest();
    await page.getByText(getAnswer(false)).waitFor();
    const form = page.getByRole('form', { name: grantsMessages.newGrant() });
    await form.getByLabel(grantsMessages.pattern()).fill('*-*-backup');
    await form.getByLabel(grantsMessages.permission()).selectOption(grantsMessages.write());
    await form.getByRole('button', { name: grantsMessages.add() }).click();
    const matrix = page.getByRole('table', { name: grantsMessages.grants() });
    await matrix.getByText('*-*-backup').waitFor();
    expect(await matrix.getByLabel(grantsMessages.readGrant({ grant: '*-*-backup' })).isChecked()).toBe(false);
    await sendRequest();
    await page.getByText(getAnswer(true)).waitFor();
    await form.getByLabel(grantsMessages.pattern()).fill('nas-high-*');
    await form.getByLabel(grantsMessages.permission()).selectOption(grantsMessages.denied());
    await form.getByRole('button', { name: grantsMessages.add() }).click();
    await matrix
      .getByRole('row', { name: /nas-high-/ })
      .getByText(grantsMessages.denied())
      .waitFor();
    await sendRequest();
    // Both patterns have ten characters, so the one that grants write access applies.
    await page.getByText(getAnswer(true)).waitFor();
    await matrix.getByLabel(grantsMessages.writeGrant({ grant: '*-*-backup' })).uncheck();
    await getToast(page, grantsMessages.changedGrant({ grant: '*-*-backup' })).waitFor();
    await sendRequest();
    await page.getByText(getAnswer(false)).waitFor();
    await matrix.getByLabel(grantsMessages.writeGrant({ grant: 'nas-high-*' })).check();
    const change = getToast(page, grantsMessages.changedGrant({ grant: 'nas-high-*' }));
    await change.waitFor();
    await sendRequest();
    await page.getByText(getAnswer(true)).waitFor();
    await change.getByRole('button', { name: partsMessages.undo() }).click();
    await expect
      .poll(() => matrix.getByLabel(grantsMessages.writeGrant({ grant: 'nas-high-*' })).isChecked())
      .toBe(false);
    await sendRequest();
    await page.getByText(getAnswer(false)).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('summarizes grants by the names of the services', async () => {
    const of = (service: string, resource: string, permission: string) => ({ service, resource, permission });
    const grants = [of('push', '*', 'read-write'), of('inbox', '*', 'read'), of('push', 'secret-*', 'none')];
    await make('bob', { grants });
    await using visit = await pages.visit('/settings/accounts');
    const { page } = visit;
    const summary = [
      grantsMessages.usesNames({ names: frameMessages.pushTitle() }),
      grantsMessages.readsNames({ names: frameMessages.inboxTitle() }),
      grantsMessages.notNames({ names: grantsMessages.topicsWithPrefix({ prefix: 'secret-' }) }),
    ];
    await page.getByText(capitalize(summary.join('; '))).waitFor();
    await page.getByRole('link', { name: /^bob/ }).click();
    const matrix = page.getByRole('table', { name: grantsMessages.grants() });
    await matrix.getByLabel(grantsMessages.writeGrant({ grant: manifestsMessages.inboxGrant() })).check();
    await getToast(page, grantsMessages.changedGrant({ grant: manifestsMessages.inboxGrant() })).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('grants a whole service when the pattern is empty', async () => {
    await make('carl', {});
    await using visit = await pages.visit('/settings/accounts/carl');
    const { page } = visit;
    const form = page.getByRole('form', { name: grantsMessages.newGrant() });
    await form.getByLabel(grantsMessages.service()).selectOption(manifestsMessages.inboxGrant());
    await form.getByLabel(grantsMessages.permission()).selectOption(grantsMessages.read());
    await form.getByRole('button', { name: grantsMessages.add() }).click();
    const matrix = page.getByRole('table', { name: grantsMessages.grants() });
    await matrix.getByText(grantsMessages.everything(), { exact: true }).waitFor();
    expect(
      await matrix.getByLabel(grantsMessages.readGrant({ grant: manifestsMessages.inboxGrant() })).isChecked(),
    ).toBe(true);
    expect(
      await matrix.getByLabel(grantsMessages.writeGrant({ grant: manifestsMessages.inboxGrant() })).isChecked(),
    ).toBe(false);
    const all = (await api<{ accounts: Account[] }>(pages.url, '/api/accounts')).accounts;
    expect(all.find(({ name }) => name === 'carl')?.grants).toEqual([
      { service: 'inbox', resource: '*', permission: 'read' },
    ]);
    expect(visit.complaints).toEqual([]);
  });

  it('lists enabled service accounts first and keeps the order after a switch', async () => {
    await make('nas', { kind: 'service' });
    await using visit = await pages.visit('/settings/accounts');
    const { page } = visit;
    const switches = page.getByRole('list', { name: accountsMessages.serviceAccounts() }).getByRole('switch');
    const first = (): Promise<readonly (string | null)[]> =>
      switches.evaluateAll((all) => all.slice(0, 3).map((entry) => entry.getAttribute('aria-label')));
    const expectedRows = ['nas', 'administration', 'backup-jobs'].map((name) => accountsMessages.nameOn({ name }));
    await expect.poll(first).toEqual(expectedRows);
    const backup = page.getByRole('switch', { name: accountsMessages.nameOn({ name: 'backup-jobs' }) });
    await backup.click();
    await expect.poll(() => backup.getAttribute('aria-checked')).toBe('true');
    expect(await first()).toEqual(expectedRows);
    expect(visit.complaints).toEqual([]);
  });

  it('grants a topic to anyone', async () => {
    const publish = (): Promise<number> =>
      fetch(`${pages.host.url('push')}/open-low-chat`, { method: 'POST', body: 'x' }).then(({ status }) => status);
    expect(await publish()).toBe(403);
    await using visit = await pages.visit('/settings/accounts/*');
    const { page } = visit;
    await page.getByLabel(grantsMessages.pattern()).fill('open-*');
    await page.getByRole('button', { name: grantsMessages.add() }).click();
    await page.getByRole('table', { name: grantsMessages.grants() }).getByText('open-*').waitFor();
    expect(await publish()).toBe(200);
    expect(visit.complaints).toEqual([]);
  });

  it('confirms the removal of an account, which ends its tokens and streams', async () => {
    await make('grace', { password: 'harbour light' });
    const { text } = await api<{ text: string }>(pages.url, '/api/accounts/grace/tokens', {
      method: 'POST',
      body: JSON.stringify({ label: 'phone' }),
    });
    const read = (): Promise<number> =>
      fetch(`${pages.url}/api/account`, { headers: { Authorization: `Bearer ${text}` } }).then(({ status }) => status);
    await using visit = await pages.visit('/settings/accounts/grace');
    const { page } = visit;
    await page.getByRole('button', { name: accountsMessages.removeThisAccount() }).click();
    const dialog = page.getByRole('dialog', { name: accountsMessages.removeName({ name: 'grace' }) });
    await dialog.getByRole('button', { name: accountsMessages.cancel() }).click();
    expect(await read()).toBe(200);
    await page.getByRole('button', { name: accountsMessages.removeThisAccount() }).click();
    // The event of the removal arrives long before the response: the page must not request the removed account.
    await page.route('**/api/accounts/grace', async (route) => {
      const response = await route.fetch();
      await page.waitForTimeout(500);
      await route.fulfill({ response });
    });
    await dialog.getByRole('button', { name: accountsMessages.removeTheAccount() }).click();
    const people = page.getByRole('list', { name: accountsMessages.people() }).getByRole('listitem');
    await people.filter({ hasText: 'ada' }).waitFor();
    await expect.poll(() => people.count()).toBe(1);
    expect(await read()).toBe(401);
    expect(visit.complaints).toEqual([]);
  });

  it('refuses to remove the last administrator', async () => {
    await using visit = await pages.visit('/settings/accounts/ada');
    const { page } = visit;
    await page.getByText(containing(accountsMessages.changeOwnUnderAccount())).waitFor();
    expect(await page.getByLabel(accountsMessages.role()).isDisabled()).toBe(true);
    expect(await page.getByRole('switch', { name: accountsMessages.nameOn({ name: 'ada' }) }).isDisabled()).toBe(true);
    expect(await page.getByRole('button', { name: accountsMessages.removeThisAccount() }).count()).toBe(0);
    // An administrating program may try as well.
    const refused = await fetch(`${pages.url}/api/accounts/ada`, {
      method: 'DELETE',
      headers: { Authorization: adminAuthorization },
    });
    expect(refused.status).toBe(409);
  });

  it('shows changes of another window and keeps the text being edited', async () => {
    await make('nas', { kind: 'service', description: 'The box' });
    await using visit = await pages.visit('/settings/accounts/nas');
    const { page } = visit;
    await page.getByText('The box').waitFor();
    await page.getByLabel(accessTokensMessages.nameOfTheToken()).fill('half typ');
    await using other = await pages.visit('/settings/accounts/nas');
    await other.page.getByLabel(accountsMessages.whatNameIsFor({ name: 'nas' })).fill('The box in the cellar');
    await other.page.getByRole('button', { name: accountsMessages.save(), exact: true }).click();
    await page.getByText('The box in the cellar').waitFor();
    expect(await page.getByLabel(accountsMessages.whatNameIsFor({ name: 'nas' })).inputValue()).toBe(
      'The box in the cellar',
    );
    expect(await page.getByLabel(accessTokensMessages.nameOfTheToken()).inputValue()).toBe('half typ');
    await other.page.getByLabel(accessTokensMessages.nameOfTheToken()).fill('cron');
    await other.page.getByLabel(accessTokensMessages.whatItMayDo(), { exact: true }).selectOption('all');
    await other.page.getByRole('button', { name: accessTokensMessages.makeAToken() }).click();
    await page.getByRole('list', { name: accessTokensMessages.tokens() }).getByText('cron').waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('finds an account among two hundred, and shows one with sixty tokens', async () => {
    for (let index = 0; index < 200; index += 1) await make(`service-${String(index)}`, { kind: 'service' });
    for (let index = 0; index < 60; index += 1) {
      await api(pages.url, '/api/accounts/service-150/tokens', {
        method: 'POST',
        body: JSON.stringify({ label: `client ${String(index)}` }),
      });
    }
    await using visit = await pages.visit('/settings/accounts');
    const { page } = visit;
    const programs = page.getByRole('list', { name: accountsMessages.serviceAccounts() }).getByRole('listitem');
    await page.getByLabel(accountsMessages.findAnAccount()).fill('service-150');
    await expect.poll(() => programs.count()).toBe(1);
    await page.getByLabel(accountsMessages.findAnAccount()).fill('nobody at all');
    await page.getByText(accountsMessages.noAccountFits()).waitFor();
    await page.getByRole('button', { name: accountsMessages.showAllAccounts() }).click();
    await expect.poll(() => programs.count()).toBe(205);
    await programs.getByRole('link', { name: /service-150/ }).click();
    const tokens = page.getByRole('list', { name: accessTokensMessages.tokens() }).getByRole('listitem');
    await expect.poll(() => tokens.count()).toBe(60);
    expect(visit.complaints).toEqual([]);
  });

  it('refuses accounts without the administrator role and links to their own account', async () => {
    await make('grace', { password: 'harbour light' });
    await using visit = await pages.visit('/settings/accounts', { signedIn: false });
    const { page } = visit;
    await page.getByLabel(accountsMessages.name()).fill('grace');
    await page.getByLabel(accountsMessages.password()).fill('harbour light');
    await page.keyboard.press('Enter');
    await page.getByText(accountsMessages.administratorsOnly()).waitFor();
    await page.getByRole('main').getByRole('link', { name: accountsMessages.yourAccount() }).click();
    await page.getByLabel(accessTokensMessages.nameOfTheToken()).fill('phone');
    await page.getByLabel(accessTokensMessages.whatItMayDo(), { exact: true }).selectOption('all');
    await page.getByRole('button', { name: accessTokensMessages.makeAToken() }).click();
    const text = await page.getByRole('status').locator('code').filter({ hasText: /^tk_/ }).innerText();
    await page.getByRole('list', { name: accessTokensMessages.tokens() }).getByText('phone').waitFor();
    await page.getByRole('button', { name: accountsMessages.changeThePassword() }).click();
    await page.getByLabel(accountsMessages.currentPassword(), { exact: true }).fill('not it at all');
    await page.getByLabel(accountsMessages.newPassword(), { exact: true }).fill('another light');
    await page.getByRole('button', { name: partsMessages.showSubject({ subject: 'the new password' }) }).click();
    expect(await page.getByLabel(accountsMessages.newPassword(), { exact: true }).getAttribute('type')).toBe('text');
    await page.getByRole('button', { name: accountsMessages.changeThePassword() }).click();
    await page.getByText(controlProblems.wrongPassword()).waitFor();
    await page.getByLabel(accountsMessages.currentPassword(), { exact: true }).fill('harbour light');
    await page.keyboard.press('Enter');
    await page.getByText(accountsMessages.yourPasswordIsChanged()).waitFor();
    await page.reload();
    await page.getByRole('list', { name: accessTokensMessages.tokens() }).getByText('phone').waitFor();
    const created = await fetch(`${pages.url}/api/account/tokens`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${text}`, 'Content-Type': 'application/json' },
      body: '{}',
    });
    expect(created.status).toBe(403);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('stays signed in when a new password ends the other sessions and the response is late', async () => {
    await make('joan', { password: 'harbour light' });
    await using visit = await pages.visit('/account', { signedIn: false });
    const { page } = visit;
    await page.getByLabel(accountsMessages.name()).fill('joan');
    await page.getByLabel(accountsMessages.password()).fill('harbour light');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: accountsMessages.changeThePassword() }).click();
    await page.getByLabel(accountsMessages.currentPassword(), { exact: true }).fill('harbour light');
    await page.getByLabel(accountsMessages.newPassword(), { exact: true }).fill('another light');
    // The live event stream ends with the session, and a new one is refused.
    const refused = page.waitForResponse((response) => response.status() === 401);
    await page.route('**/api/account/password', async (route) => {
      const response = await route.fetch();
      await refused;
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: accountsMessages.changeThePassword() }).click();
    await page.getByText(accountsMessages.yourPasswordIsChanged()).waitFor();
    await page.getByRole('button', { name: accessTokensMessages.makeAToken() }).waitFor();
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('supports keyboard navigation', async () => {
    await using visit = await pages.visit('/settings/accounts');
    const { page } = visit;
    const openAccount = async (name: string): Promise<void> => {
      const focused = (): Promise<string> =>
        page.evaluate(() => {
          const element = document.activeElement;
          return element?.getAttribute('aria-label') ?? element?.textContent.trim() ?? '';
        });
      for (let step = 0; step < 60 && (await focused()) !== name; step += 1) await page.keyboard.press('Tab');
      expect(await focused()).toBe(name);
    };
    await page.getByRole('list', { name: accountsMessages.people() }).waitFor();
    await openAccount('New account');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog', { name: accountsMessages.newAccount() });
    await expect
      .poll(() => dialog.getByLabel(accountsMessages.name()).evaluate((input) => input === document.activeElement))
      .toBe(true);
    await page.keyboard.type('grace');
    await page.keyboard.press('Tab');
    await page.keyboard.type('harbour light');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 2, name: 'grace' }).waitFor();
    await openAccount(accessTokensMessages.nameOfTheToken());
    await page.keyboard.type('phone');
    await openAccount(accessTokensMessages.whatItMayDo());
    await page.keyboard.type('Everything');
    await openAccount(accessTokensMessages.makeAToken());
    await page.keyboard.press('Enter');
    await page.locator('code').filter({ hasText: /^tk_/ }).waitFor();
    await openAccount('Pattern');
    await page.keyboard.type('chat-*');
    await page.keyboard.press('Enter');
    const read = page.getByLabel(grantsMessages.readGrant({ grant: 'chat-*' }));
    await read.waitFor();
    await openAccount('Read chat-*');
    await page.keyboard.press('Space');
    await expect.poll(() => read.isChecked()).toBe(false);
    await openAccount(accountsMessages.removeThisAccount());
    await page.keyboard.press('Enter');
    await openAccount(accountsMessages.removeTheAccount());
    await page.keyboard.press('Enter');
    await page.getByText(accountsMessages.nameIsRemoved({ name: 'grace' })).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows why the accounts cannot be loaded, and retries', async () => {
    await using visit = await pages.visit('/');
    const { page } = visit;
    await page.route('**/api/accounts', (route) => route.abort());
    await page.goto(`${pages.url}/settings/accounts`);
    await page.getByText(stateMessages.offline()).first().waitFor();
    await page.unroute('**/api/accounts');
    await page.getByRole('main').getByRole('button', { name: /again/i }).click();
    await page.getByRole('list', { name: accountsMessages.people() }).getByText('ada').waitFor();
  });

  it.each(screens)('fits on $on', async (screen) => {
    const grants = ['*-*-backup', '*-*-monitoring', 'a-very-long-service-name-high-of-everything-there-is-to-say'].map(
      (resource) => ({ service: 'push', resource, permission: 'write' }),
    );
    await make('grace', { password: 'harbour light' });
    await make('a-service-with-a-name-that-is-much-longer-than-it-has-any.right', { kind: 'service', grants });
    const name = 'a-service-with-a-name-that-is-much-longer-than-it-has-any.right';
    await api(pages.url, `/api/accounts/${name}/tokens`, {
      method: 'POST',
      body: JSON.stringify({ label: 'cron on the nas' }),
    });
    await using list = await pages.visit('/settings/accounts', screen);
    await list.page.getByRole('heading', { level: 2, name: accountsMessages.people() }).waitFor();
    await expectFits(list, 'accounts', screen);
    await using one = await pages.visit(`/accounts?account=${name}`, screen);
    await one.page.getByLabel(accessTokensMessages.nameOfTheToken()).fill('nas');
    await one.page.getByLabel(accessTokensMessages.whatItMayDo(), { exact: true }).selectOption('all');
    await one.page.getByRole('button', { name: accessTokensMessages.makeAToken() }).click();
    await one.page.locator('code').filter({ hasText: /^tk_/ }).waitFor();
    await expectFits(one, 'account', screen);
    await using accountPage = await pages.visit('/account', screen);
    await accountPage.page.getByText(accessTokensMessages.noTokenYet()).waitFor();
    await expectFits(accountPage, 'own-account', screen);
  });
});
