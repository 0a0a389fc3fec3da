import * as dataMessages from '#messages/data';
import * as problemMessages from '#messages/data-problems';
import * as dataSqlMessages from '#messages/data-sql';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { openDataFixture, type DataFixture } from '../services/data/data-fixture.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { getSqlEditor, readSql, writeSql } from './sql-editor.ts';

/** Types text while the time in which the editor reads a statement after each input is already used up. */
async function typeSlowly(page: Page, text: string): Promise<void> {
  await page.evaluate(async (typed) => {
    const readTime = Date.now.bind(Date);
    let skipped = 0;
    Date.now = () => readTime() + (skipped += 1000);
    document.execCommand('insertText', false, typed);
    await new Promise(requestAnimationFrame);
    Date.now = readTime;
  }, text);
}

/**
 * Opens the list of completions until it contains an option: the names are loaded after the editor, and only keywords
 * are listed before. A key press replaces an open list, so none follows once the option is visible.
 */
async function waitForCompletion(page: Page, option: Locator): Promise<void> {
  const open = async (): Promise<boolean> => {
    if (await option.isVisible()) return true;
    await page.keyboard.press('Control+Space');
    return false;
  };
  await expect.poll(open, { interval: 500 }).toBe(true);
}

describe.skipIf(noBrowser)('Data: SQL editor', () => {
  let fixture: DataFixture;
  beforeAll(async () => {
    fixture = await openDataFixture({ services: [inbox] });
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}${path}`);
    return browserPage;
  };

  it('saves a query, runs it again, and renames it', async () => {
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    await writeSql(page, 'select 20 + 1 as half');
    await page.getByRole('button', { name: dataMessages.save(), exact: true }).click();
    await page.getByLabel(dataMessages.name(), { exact: true }).fill('Half of it');
    await page.getByRole('dialog').getByRole('button', { name: dataMessages.save() }).click();
    await page.getByRole('heading', { name: 'Half of it' }).waitFor();
    await writeSql(page, 'select 20 + 2 as half');
    await page.getByText(dataSqlMessages.changed(), { exact: true }).waitFor();
    await page.getByRole('button', { name: dataMessages.save(), exact: true }).click();
    await page.getByText(dataSqlMessages.changed(), { exact: true }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: dataSqlMessages.newLabel(), exact: true }).click();
    await page.getByRole('heading', { name: dataSqlMessages.newQuery() }).waitFor();
    expect(await readSql(page)).toBe('');
    // The browser's undo restores the text.
    await page.keyboard.press('Control+z');
    expect(await readSql(page)).toBe('select 20 + 2 as half');
    await page.getByRole('button', { name: dataSqlMessages.moreForName({ name: 'Half of it' }) }).click();
    await page.getByRole('menuitem', { name: dataSqlMessages.rename() }).click();
    await page.getByLabel(dataMessages.name(), { exact: true }).fill('The half');
    await page.getByRole('dialog').getByRole('button', { name: dataSqlMessages.rename() }).click();
    await page.getByRole('button', { name: dataSqlMessages.moreForName({ name: 'The half' }) }).click();
    await page.getByRole('menuitem', { name: dataSqlMessages.run() }).click();
    await page.getByRole('cell', { name: '22' }).waitFor();
    // The draft is restored when its page is opened again.
    await writeSql(page, 'select 1 -- not done');
    await page.reload();
    expect(await readSql(page)).toBe('select 1 -- not done');
    await page.getByRole('button', { name: dataSqlMessages.moreForName({ name: 'The half' }) }).click();
    await page.getByRole('menuitem', { name: dataSqlMessages.remove() }).click();
    await page
      .getByRole('button', { name: dataSqlMessages.moreForName({ name: 'The half' }) })
      .waitFor({ state: 'detached' });
    // A table that was just made can be looked at.
    await writeSql(page, 'create table lanterns (name text)');
    await page.keyboard.press('Control+Enter');
    await page.getByRole('radio', { name: dataMessages.tables() }).check();
    await page.getByRole('button', { name: /^lanterns/ }).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('indents lines with Tab and moves the focus after Escape', async () => {
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    await writeSql(page, 'select 1,\n2');
    await page.keyboard.press('Control+a');
    await page.keyboard.press('Tab');
    expect(await readSql(page)).toBe('  select 1,\n  2');
    await page.keyboard.press('Shift+Tab');
    expect(await readSql(page)).toBe('select 1,\n2');
    await page.keyboard.press('ArrowRight');
    await page.keyboard.press('Tab');
    expect(await readSql(page)).toBe('select 1,\n2 ');
    await page.keyboard.press('Escape');
    await page.keyboard.press('Tab');
    await expect
      .poll(() =>
        page.getByLabel(dataSqlMessages.runAs(), { exact: true }).evaluate((field) => field === document.activeElement),
      )
      .toBe(true);
  });

  it('replaces text that was selected immediately before', async () => {
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    await writeSql(page, 'select 1,\n2');
    const editor = await getSqlEditor(page);
    await editor.evaluate((element) => {
      // The editor isn't notified of the selection before the input arrives.
      addEventListener('selectionchange', (event) => event.stopImmediatePropagation(), { capture: true });
      getSelection()?.selectAllChildren(element);
    });
    await page.keyboard.insertText('select 3');
    await expect.poll(() => readSql(page)).toBe('select 3');
    expect(browserPage.complaints).toEqual([]);
  });

  it('completes tables, columns and functions', async () => {
    await fixture.sql(
      `create table harbours (id int primary key, country_code text); create function count_harbours(country text)
        returns bigint language sql as 'select count(*) from harbours'; select 1`,
    );
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    const options = page.getByRole('listbox').getByRole('option');
    await writeSql(page, 'select * from harb');
    const harbours = options.filter({ hasText: /^harbours/ });
    await waitForCompletion(page, harbours);
    await harbours.click();
    await page.keyboard.type(' h where h.country');
    await options.filter({ hasText: /^country_codetext/ }).click();
    await page.keyboard.type(' = country');
    await options.filter({ hasText: /^country_codetext/ }).click();
    expect(await readSql(page)).toBe('select * from harbours h where h.country_code = country_code');
    await writeSql(page, 'select count_har');
    await page.keyboard.press('Control+Space');
    await options.filter({ hasText: /^count_harbours\(country text\)/ }).click();
    expect(await readSql(page)).toBe('select count_harbours(');
    expect(browserPage.complaints).toEqual([]);
  });

  it('completes columns of an alias although the time for reading the statement was used up', async () => {
    await fixture.sql('create table beacons (id int primary key, range_miles int)');
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    await writeSql(page, 'select * from beac');
    const options = page.getByRole('listbox').getByRole('option');
    const beacons = options.filter({ hasText: /^beacons/ });
    await waitForCompletion(page, beacons);
    await beacons.click();
    await page.keyboard.type(' b where b');
    await page.keyboard.press('Escape');
    await typeSlowly(page, '.');
    await options.filter({ hasText: /^range_milesint/ }).click();
    expect(await readSql(page)).toBe('select * from beacons b where b.range_miles');
    await writeSql(page, 'select b from beacons b');
    await page.keyboard.press('Control+Home');
    for (let letter = 0; letter < 'select b'.length; letter += 1) await page.keyboard.press('ArrowRight');
    await typeSlowly(page, '.');
    await options.filter({ hasText: /^range_milesint/ }).click();
    expect(await readSql(page)).toBe('select b.range_miles from beacons b');
    expect(browserPage.complaints).toEqual([]);
  });

  it('runs only the selected text, and finds the error in it', async () => {
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    await writeSql(page, 'select 1 as one;\nselect nonsense');
    await page.keyboard.press('Control+Home');
    await page.keyboard.press('Shift+ArrowDown');
    await page.getByRole('button', { name: dataSqlMessages.runSelection() }).click();
    await page.getByRole('columnheader', { name: 'one' }).waitFor();
    await page.keyboard.press('Shift+Tab');
    await (await getSqlEditor(page)).focus();
    await page.keyboard.press('Control+End');
    await page.keyboard.press('Shift+Home');
    await page.keyboard.press('Control+Enter');
    await page.getByText('42703').waitFor();
    await page.getByRole('button', { name: dataSqlMessages.goThere() }).click();
    await page.keyboard.type('2 as two');
    expect(await readSql(page)).toBe('select 1 as one;\nselect 2 as two');
  });

  it('formats statements, and copies results as JSON', async () => {
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await writeSql(page, `SELECT 12345678901234567890 as n, 'a' as word, '{"a": 1}'::jsonb as meta`);
    await page.getByRole('button', { name: dataSqlMessages.format() }).click();
    await expect
      .poll(() => readSql(page))
      .toBe(`select\n  12345678901234567890 as n,\n  'a' as word,\n  '{"a": 1}'::jsonb as meta`);
    await page.keyboard.press('Control+Enter');
    await page.getByRole('cell', { name: '12345678901234567890' }).waitFor();
    await page.getByRole('button', { name: dataSqlMessages.moreForResults() }).click();
    await page.getByRole('menuitem', { name: dataSqlMessages.copyAsJson() }).click();
    await expect
      .poll(() => page.evaluate(() => navigator.clipboard.readText()))
      .toBe('[\n  { "n": 12345678901234567890, "word": "a", "meta": {"a": 1} }\n]');
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows the plan of a statement, measures it on request, and changes nothing', async () => {
    await fixture.sql(
      `create table voyages (id int primary key, place text); insert into voyages select n, 'place ' || n
        from generate_series(1, 20000) n; analyze voyages; select 1`,
    );
    await using browserPage = await visit('/data/sql');
    const { page } = browserPage;
    await writeSql(page, `delete from voyages where place = 'place 7'`);
    await page.getByRole('button', { name: dataSqlMessages.explain() }).click();
    const plan = page.getByRole('region', { name: dataSqlMessages.queryPlan() });
    await plan.getByText(containing(dataSqlMessages.planEstimated({ cost: anyText }))).waitFor();
    await plan.getByRole('button', { name: dataSqlMessages.analyze() }).click();
    await plan.getByText(containing(dataSqlMessages.planMeasured({ time: anyText, planning: anyText }))).waitFor();
    const step = plan.getByRole('listitem').filter({ hasText: dataSqlMessages.costliestStep() });
    await step.getByText('public.voyages').waitFor();
    await step.getByText(dataSqlMessages.planRowsFiltered({ count: 1, estimated: '1', removed: '19,999' })).waitFor();
    await plan.getByText(dataSqlMessages.hintIndex()).waitFor();
    expect(await fixture.sql('select count(*)::int as count from voyages')).toEqual([{ count: 20_000 }]);
    await writeSql(page, 'select 1; select 2');
    await page.getByRole('button', { name: dataSqlMessages.explain() }).click();
    await page.getByText(problemMessages.explainOneStatement()).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await fixture.sql(
      `create table if not exists ports (id int primary key, name text); insert into ports
        select n, 'port ' || n from generate_series(1, 3000) n on conflict do nothing; analyze ports; select 1`,
    );
    await using browserPage = await visit('/data/sql', screen);
    const { page } = browserPage;
    await writeSql(
      page,
      "-- ports with a neighbor\nselect * from ports a\njoin ports b on b.id = a.id + 1\nwhere a.name = 'port 7'",
    );
    await page.getByRole('button', { name: dataSqlMessages.explain() }).click();
    const plan = page.getByRole('region', { name: dataSqlMessages.queryPlan() });
    await plan.getByRole('button', { name: dataSqlMessages.analyze() }).click();
    await plan.getByText(containing(dataSqlMessages.planMeasured({ time: anyText, planning: anyText }))).waitFor();
    await expectFits(browserPage, 'data-plan', screen);
    await writeSql(page, 'select * from por');
    await page.keyboard.press('Control+Space');
    await page.getByRole('listbox').getByRole('option').first().waitFor();
    await expectFits(browserPage, 'data-completion', screen);
  });
});
