import * as dataMessages from '#messages/data';
import * as dataSqlMessages from '#messages/data-sql';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { openDataFixture, type DataFixture } from '../services/data/data-fixture.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';

describe.skipIf(noBrowser)('Data: SQL editor', () => {
  let fixture: DataFixture;
  beforeAll(async () => {
    fixture = await openDataFixture({ services: [inbox] });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (path: string) => {
    const browserPage = await openPage(await getBrowser());
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}${path}`);
    return browserPage;
  };

  it('saves a query, runs it again, and renames it', async () => {
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    const editor = page.getByLabel(dataSqlMessages.statements());
    await editor.fill('select 20 + 1 as half');
    await page.getByRole('button', { name: dataMessages.save(), exact: true }).click();
    await page.getByLabel(dataMessages.name(), { exact: true }).fill('Half of it');
    await page.getByRole('dialog').getByRole('button', { name: dataMessages.save() }).click();
    await page.getByRole('heading', { name: 'Half of it' }).waitFor();
    await editor.fill('select 20 + 2 as half');
    await page.getByText(dataSqlMessages.changed(), { exact: true }).waitFor();
    await page.getByRole('button', { name: dataMessages.save(), exact: true }).click();
    await page.getByText(dataSqlMessages.changed(), { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: dataSqlMessages.newLabel(), exact: true }).click();
    await page.getByRole('heading', { name: dataSqlMessages.newQuery() }).waitFor();
    expect(await editor.inputValue()).toBe('');
    // The browser's undo restores the text.
    await page.keyboard.press('Control+z');
    expect(await editor.inputValue()).toBe('select 20 + 2 as half');
    await page.getByRole('button', { name: dataSqlMessages.moreForName({ name: 'Half of it' }) }).click();
    await page.getByRole('menuitem', { name: dataSqlMessages.rename() }).click();
    await page.getByLabel(dataMessages.name(), { exact: true }).fill('The half');
    await page.getByRole('dialog').getByRole('button', { name: dataSqlMessages.rename() }).click();
    await page.getByRole('button', { name: dataSqlMessages.moreForName({ name: 'The half' }) }).click();
    await page.getByRole('menuitem', { name: dataSqlMessages.run() }).click();
    await page.getByRole('cell', { name: '22' }).waitFor();
    // The draft is restored when its page is opened again.
    await editor.fill('select 1 -- not done');
    await page.reload();
    expect(await editor.inputValue()).toBe('select 1 -- not done');
    await page.getByRole('button', { name: dataSqlMessages.moreForName({ name: 'The half' }) }).click();
    await page.getByRole('menuitem', { name: dataSqlMessages.remove() }).click();
    await page
      .getByRole('button', { name: dataSqlMessages.moreForName({ name: 'The half' }) })
      .waitFor({ state: 'detached' });
    // A table that was just made can be looked at.
    await editor.fill('create table lanterns (name text)');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('radio', { name: dataMessages.tables() }).check();
    await page.getByRole('button', { name: /^lanterns/ }).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('indents lines with Tab and moves the focus after Escape', async () => {
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    const editor = page.getByLabel(dataSqlMessages.statements());
    await editor.fill('select 1,\n2');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Tab');
    expect(await editor.inputValue()).toBe('  select 1,\n  2');
    await page.keyboard.press('Shift+Tab');
    expect(await editor.inputValue()).toBe('select 1,\n2');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    expect(await editor.inputValue()).toBe('select 1,\n2 ');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await expect
      .poll(() =>
        page.getByLabel(dataSqlMessages.runAs(), { exact: true }).evaluate((field) => field === document.activeElement),
      )
      .toBe(true);
  });
});
