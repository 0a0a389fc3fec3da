import * as mailMessages from '#messages/mail';
import * as accountsMessages from '#messages/accounts';
import * as stateMessages from '#messages/state';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { AccountDisposition } from '../../services/contracts/control/account-data.ts';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { api } from '../support/api.ts';
import { noBrowser } from '../support/browser.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

/** Requests that the service received for the data of removed accounts. */
let released: { account: string; disposition: AccountDisposition }[] = [];
let itemCount = 3;
const itemService = fixtureService('shelf', () => ({
  accountData: {
    summary: (account) => Promise.resolve(account.startsWith('mia') ? [{ kind: 'books', count: itemCount }] : []),
    release: (account, disposition) => {
      released.push({ account, disposition });
      return Promise.resolve();
    },
  },
}));

describe.skipIf(noBrowser)('account removal dialog', () => {
  let pages: Pages;
  let count = 0;
  let name = '';
  beforeAll(async () => {
    pages = await openPages({ services: [itemService, inbox, control] });
    await api(pages.url, '/api/accounts', { method: 'POST', body: JSON.stringify({ name: 'heir' }) });
  });
  afterAll(() => pages[Symbol.asyncDispose]());
  beforeEach(async () => {
    released = [];
    itemCount = 3;
    count += 1;
    name = `mia-${String(count)}`;
    await api(pages.url, '/api/accounts', { method: 'POST', body: JSON.stringify({ name }) });
  });

  const names = async (): Promise<string[]> =>
    (await api<{ accounts: { name: string }[] }>(pages.url, '/api/accounts')).accounts.map((account) => account.name);
  async function open() {
    const visit = await pages.visit(`/settings/accounts/${name}`);
    await visit.page.getByRole('button', { name: accountsMessages.removeThisAccount() }).click();
    const dialog = visit.page.getByRole('dialog', { name: accountsMessages.removeName({ name }) });
    await dialog.getByText(accountsMessages.foundSummary({ summary: '3 books (shelf)' })).waitFor();
    return { ...visit, dialog, [Symbol.asyncDispose]: () => visit[Symbol.asyncDispose]() };
  }

  it('keeps the data for administrators unless another choice is made', async () => {
    await using opened = await open();
    await opened.dialog.getByRole('button', { name: accountsMessages.removeTheAccount() }).click();
    await opened.page.getByText(accountsMessages.nameIsRemoved({ name })).waitFor();
    expect(released).toMatchObject([{ account: name, disposition: { action: 'keep' } }]);
    expect(await names()).not.toContain(name);
    expect(opened.complaints).toEqual([]);
  });

  it('transfers the data to the account that is selected', async () => {
    await using opened = await open();
    const { dialog, page } = opened;
    await dialog.getByLabel(accountsMessages.dataInServices()).selectOption('transfer');
    const recipients = await dialog.getByLabel(accountsMessages.transferTo()).getByRole('option').allInnerTexts();
    expect(recipients).toEqual(['ada', 'heir']);
    await dialog.getByLabel(accountsMessages.transferTo()).selectOption('heir');
    await dialog.getByRole('button', { name: accountsMessages.removeTheAccount() }).click();
    await page.getByText(accountsMessages.nameIsRemoved({ name })).waitFor();
    expect(released).toEqual([{ account: name, disposition: { action: 'transfer', to: 'heir' } }]);
    expect(opened.complaints).toEqual([]);
  });

  it('deletes the data, and starts with the safe choice when it is opened again', async () => {
    await using opened = await open();
    const { dialog, page } = opened;
    const choice = dialog.getByLabel(accountsMessages.dataInServices());
    await choice.selectOption('delete');
    await dialog.getByText(accountsMessages.deletedNowCannotRestored(), { exact: false }).waitFor();
    await dialog.getByRole('button', { name: accountsMessages.cancel() }).click();
    await page.getByRole('button', { name: accountsMessages.removeThisAccount() }).click();
    expect(await choice.inputValue()).toBe('keep');
    await choice.selectOption('delete');
    await dialog.getByRole('button', { name: accountsMessages.removeTheAccount() }).click();
    await page.getByText(accountsMessages.nameIsRemoved({ name })).waitFor();
    expect(released).toEqual([{ account: name, disposition: { action: 'delete' } }]);
    expect(opened.complaints).toEqual([]);
  });

  it('shows that the account has no data, or that the services do not respond', async () => {
    itemCount = 0;
    await using visit = await pages.visit(`/settings/accounts/${name}`);
    const { page } = visit;
    const dialog = page.getByRole('dialog', { name: accountsMessages.removeName({ name }) });
    await page.getByRole('button', { name: accountsMessages.removeThisAccount() }).click();
    await dialog.getByText(accountsMessages.noDataFoundRunning()).waitFor();
    await dialog.getByRole('button', { name: accountsMessages.cancel() }).click();
    await page.route('**/data', (route) => route.abort());
    await page.getByRole('button', { name: accountsMessages.removeThisAccount() }).click();
    await dialog.getByRole('alert').getByText(stateMessages.offline(), { exact: false }).waitFor();
    await dialog.getByRole('button', { name: accountsMessages.cancel() }).click();
    expect(await names()).toContain(name);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('keeps the selection and shows why the account cannot be removed', async () => {
    await using opened = await open();
    const { dialog, page } = opened;
    await dialog.getByLabel(accountsMessages.dataInServices()).selectOption('transfer');
    await dialog.getByLabel(accountsMessages.transferTo()).selectOption('heir');
    // A change in another window does not reset it.
    const body = JSON.stringify({ description: mailMessages.changedMeanwhile() });
    await api(pages.url, `/api/accounts/${name}`, { method: 'PATCH', body });
    await page.getByText(mailMessages.changedMeanwhile()).first().waitFor({ state: 'attached' });
    await page.route(`**/api/accounts/${name}?**`, (route) => route.abort());
    await dialog.getByRole('button', { name: accountsMessages.removeTheAccount() }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel(accountsMessages.transferTo()).inputValue()).toBe('heir');
    expect(released).toEqual([]);
    expect(await names()).toContain(name);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using visit = await pages.visit(`/settings/accounts/${name}`, screen);
    const { page } = visit;
    await page.getByRole('button', { name: accountsMessages.removeThisAccount() }).click();
    const dialog = page.getByRole('dialog', { name: accountsMessages.removeName({ name }) });
    await dialog.getByLabel(accountsMessages.dataInServices()).selectOption('transfer');
    await dialog.getByText(accountsMessages.foundSummary({ summary: '3 books (shelf)' })).waitFor();
    await expectFits(visit, 'remove-account', screen);
  });
});
