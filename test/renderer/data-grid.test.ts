import * as dataProblems from '#messages/data-problems';
import * as dataRowsMessages from '#messages/data-rows';
import * as partsMessages from '#messages/parts';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { openDataFixture, type DataFixture } from '../services/data/data-fixture.ts';
import { noBrowser, openPage, signIn, getBrowser, type PageOptions } from '../support/browser.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { getToast } from './toasts.ts';

const m = dataRowsMessages;
/** Columns in their initial order. */
const columnNames = [
  'id',
  'name',
  'length',
  'rig',
  'harbour',
  'is_sailing',
  'tags',
  'meta',
  'launched',
  'seen_at',
  'notes',
  'half',
];

describe.skipIf(noBrowser)('Data: grid', () => {
  let fixture: DataFixture;
  beforeAll(async () => {
    fixture = await openDataFixture({ services: [inbox] });
  });
  beforeEach(async () => {
    await fixture.sql(`
      drop table if exists boats, harbours, logs; drop type if exists rig;
      create type rig as enum ('sloop', 'ketch', 'schooner');
      create table harbours (id int primary key, name text not null, country text);
      insert into harbours values (1, 'Bergen', 'Norway'), (2, 'Calais', 'France'), (30, 'Porto', 'Portugal');
      create table boats (id bigint generated always as identity primary key, name text not null, length numeric,
        rig rig, harbour int references harbours, is_sailing boolean default true, tags text[], meta jsonb,
        launched date, seen_at timestamptz default now(), notes text default 'none', half numeric generated always as (length / 2) stored);
      insert into boats (name, length, rig, harbour, tags, meta, launched, seen_at) values
        ('Ada', 12345678901234567890.5, 'sloop', 1, '{old,wood}', '{"crew": 4}', '1998-05-01', '2026-11-27 13:56:00.123456+00'),
        ('Bea', 9.30, 'ketch', 2, null, null, null, null), ('Cid', 14, null, null, '{}', '[]', '2012-09-30', null);
      create table logs (at timestamptz, line text); insert into logs values (null, 'left the harbour');
      alter table boats enable row level security; alter table harbours enable row level security; select 1`);
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (table: string, options: PageOptions = {}) => {
    const browserPage = await openPage(await getBrowser(), { width: 1440, height: 900, ...options });
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}/data/tables/public.${table}/`);
    await browserPage.page.getByRole('grid').waitFor();
    return browserPage;
  };
  const getCell = (page: Page, row: number, column: string): Locator =>
    page.locator(`[data-row="${String(row)}"][data-column="${String(columnNames.indexOf(column))}"]`);
  const getEditor = (page: Page, column: string): Locator =>
    page.getByRole('dialog', { name: m.editColumn({ name: column }) }).getByLabel(column, { exact: true });
  const getFocusedCell = (page: Page): Promise<readonly [string | undefined, string | undefined]> =>
    page.evaluate(() => {
      const { row, column } = document.activeElement instanceof HTMLElement ? document.activeElement.dataset : {};
      return [row, column] as const;
    });
  /** The stored values of a column, in the order of the rows. */
  const read = async (column: string): Promise<unknown[]> =>
    (await fixture.sql(`select ${column}::text as value from boats order by id`)).map(({ value }) => value as unknown);

  it('moves over the cells with the arrow keys and keeps one tab stop', async () => {
    await using browserPage = await visit('boats');
    const { page } = browserPage;
    await getCell(page, 0, 'name').click();
    expect(await page.locator('[role=grid] [tabindex="0"]').count()).toBe(1);
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await expect.poll(() => getFocusedCell(page)).toEqual(['1', '2']);
    await page.keyboard.press('Control+Home');
    await expect.poll(() => getFocusedCell(page)).toEqual(['0', '-1']);
    await page.keyboard.press('Space');
    await page.getByRole('button', { name: m.removeRows({ count: 1 }) }).waitFor();
    await page.keyboard.press('Space');
    await page.keyboard.press('ArrowUp');
    await expect.poll(() => getFocusedCell(page)).toEqual(['-1', '0']);
    await page.keyboard.press('Control+ArrowDown');
    await page.keyboard.press('End');
    await expect.poll(() => getFocusedCell(page)).toEqual(['2', '11']);
    await page.keyboard.press('Enter');
    await getToast(page, m.columnIsGenerated({ name: 'half' })).waitFor();
    expect(browserPage.complaints).toEqual([]);
  });

  it('edits a cell by double click, Enter and typing, keeps numbers exact, and undoes the change', async () => {
    await using browserPage = await visit('boats');
    const { page } = browserPage;
    await getCell(page, 0, 'length').dblclick();
    expect(await getEditor(page, 'length').inputValue()).toBe('12345678901234567890.5');
    await getEditor(page, 'length').fill('98765432109876543210.10');
    await page.keyboard.press('Enter');
    await expect.poll(() => read('length')).toEqual(['98765432109876543210.10', '9.30', '14']);
    await expect.poll(() => getFocusedCell(page)).toEqual(['1', '2']);
    await page.keyboard.press('Shift+Tab');
    await getCell(page, 1, 'name').focus();
    // A typed letter replaces the value.
    await page.keyboard.type('Eve');
    await page.keyboard.press('Tab');
    await expect.poll(() => read('name')).toEqual(['Ada', 'Eve', 'Cid']);
    await expect.poll(() => getFocusedCell(page)).toEqual(['1', '2']);
    await page.keyboard.press('F2');
    await getEditor(page, 'length').fill('1');
    await page.keyboard.press('Escape');
    await getEditor(page, 'length').waitFor({ state: 'detached' });
    await expect.poll(() => getFocusedCell(page)).toEqual(['1', '2']);
    await getToast(page, m.cellSaved({ column: 'name' }))
      .getByRole('button', { name: partsMessages.undo() })
      .click();
    await expect.poll(() => read('name')).toEqual(['Ada', 'Bea', 'Cid']);
    await getCell(page, 0, 'length').focus();
    await page.keyboard.press('Control+z');
    await expect.poll(() => read('length')).toEqual(['12345678901234567890.5', '9.30', '14']);
    expect(browserPage.complaints).toEqual([]);
  });

  it('offers null, the default and the choices of the type', async () => {
    await using browserPage = await visit('boats');
    const { page } = browserPage;
    await getCell(page, 0, 'rig').dblclick();
    await getEditor(page, 'rig').selectOption('schooner');
    await page.keyboard.press('Enter');
    await expect.poll(() => read('rig')).toEqual(['schooner', 'ketch', null]);
    await getCell(page, 1, 'rig').dblclick();
    await page.keyboard.press('Alt+n');
    await expect.poll(() => read('rig')).toEqual(['schooner', null, null]);
    await getCell(page, 0, 'is_sailing').dblclick();
    await getEditor(page, 'is_sailing').selectOption('false');
    await page.keyboard.press('Enter');
    await expect.poll(() => read('is_sailing')).toEqual(['false', 'true', 'true']);
    await getCell(page, 0, 'is_sailing').click({ button: 'right' });
    await page.getByRole('menuitem', { name: m.setToDefault() }).click();
    await expect.poll(() => read('is_sailing')).toEqual(['true', 'true', 'true']);
    await getCell(page, 0, 'notes').dblclick();
    await getEditor(page, 'notes').fill('first');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('second');
    await page.keyboard.press('Enter');
    await expect.poll(() => read('notes')).toEqual(['first\nsecond', 'none', 'none']);
    await getCell(page, 1, 'tags').dblclick();
    await getEditor(page, 'tags').fill('new, "steel"\nfast');
    await page.keyboard.press('Enter');
    await expect
      .poll(() => fixture.sql('select tags from boats where id = 2'))
      .toEqual([{ tags: ['new, "steel"', 'fast'] }]);
    expect(browserPage.complaints).toEqual([]);
  });

  it('checks JSON before it is sent, and searches the rows of a foreign key', async () => {
    await using browserPage = await visit('boats');
    const { page } = browserPage;
    await getCell(page, 0, 'meta').dblclick();
    await getEditor(page, 'meta').fill('{"crew": ');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText(m.jsonInvalid()).waitFor();
    await getEditor(page, 'meta').fill('{"crew": 5}');
    await page.keyboard.press('Enter');
    await expect.poll(() => read('meta')).toEqual(['{"crew": 5}', null, '[]']);
    await getCell(page, 0, 'harbour').dblclick();
    const options = page.getByRole('listbox').getByRole('option');
    await options.filter({ hasText: 'Calais, France' }).waitFor();
    await getEditor(page, 'harbour').fill('port');
    await expect.poll(() => options.allInnerTexts()).toEqual([expect.stringContaining('Porto, Portugal')]);
    await page.keyboard.press('Enter');
    await expect.poll(() => read('harbour')).toEqual(['30', '2', null]);
    expect(browserPage.complaints).toEqual([]);
  });

  it('keeps a rejected value with the reason, and a conflict with the stored value', async () => {
    await using browserPage = await visit('boats');
    const { page, complaints } = browserPage;
    await getCell(page, 0, 'length').dblclick();
    await getEditor(page, 'length').fill('long');
    await page.keyboard.press('Enter');
    await page
      .getByRole('alert')
      .getByText(dataProblems.valueInvalidForType({ type: 'numeric' }))
      .waitFor();
    expect(await getCell(page, 0, 'length').textContent()).toContain('long');
    expect(await getCell(page, 0, 'length').getAttribute('aria-invalid')).toBe('true');
    await getCell(page, 0, 'length').dblclick();
    expect(await getEditor(page, 'length').inputValue()).toBe('long');
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: m.discardChange() }).click();
    await expect.poll(() => getCell(page, 0, 'length').textContent()).toContain('12345678901234567890.5');

    await getCell(page, 0, 'name').dblclick();
    await fixture.sql(`update boats set name = 'Ada II' where id = 1; select 1`);
    await getEditor(page, 'name').fill('Ada III');
    await page.keyboard.press('Enter');
    await page
      .getByRole('alert')
      .getByText(dataProblems.valueChanged({ value: 'Ada II' }))
      .waitFor();
    expect(await read('name')).toEqual(['Ada II', 'Bea', 'Cid']);
    await page.getByRole('button', { name: m.overwriteValue() }).click();
    await expect.poll(() => read('name')).toEqual(['Ada III', 'Bea', 'Cid']);
    // The browser reports the responses of the rejected changes.
    expect(complaints.filter((text) => !text.includes('409'))).toEqual([]);
  });

  it('does not undo over a later change of a value that the list truncates', async () => {
    await using browserPage = await visit('boats');
    const { page, complaints } = browserPage;
    await getCell(page, 0, 'name').dblclick();
    await getEditor(page, 'name').fill('a'.repeat(400));
    const stored = page.waitForResponse((response) => response.url().includes('/rows/read'));
    await page.keyboard.press('Enter');
    const toast = getToast(page, m.cellSaved({ column: 'name' }));
    await toast.waitFor();
    await (await stored).finished();
    await fixture.sql(`update boats set name = 'Ada II' where id = 1; select 1`);
    await toast.getByRole('button', { name: partsMessages.undo() }).click();
    await page.getByText(dataProblems.rowChanged({ name: 'name' })).waitFor();
    expect(await read('name')).toEqual(['Ada II', 'Bea', 'Cid']);
    expect(complaints.filter((text) => !text.includes('409'))).toEqual([]);
  });

  it('says why rows without a primary key cannot be edited, and copies their cells', async () => {
    await using browserPage = await visit('logs');
    const { page } = browserPage;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const cell = page.getByRole('gridcell', { name: 'left the harbour' });
    await cell.click();
    await page.keyboard.press('Control+c');
    await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('left the harbour');
    await page.keyboard.press('Enter');
    await getToast(page, m.thisTableHasNoPrimary()).waitFor();
    expect(await cell.getAttribute('aria-readonly')).toBe('true');
  });

  it('resizes, moves, hides and sorts columns, and keeps the layout of the table', async () => {
    await using browserPage = await visit('boats');
    const { page } = browserPage;
    const header = page.getByRole('columnheader', { name: /\bname\b/ });
    const width = async (): Promise<number> => Math.round((await header.boundingBox())?.width ?? 0);
    await getCell(page, -1, 'name').focus();
    const separator = page.getByRole('separator', { name: m.columnWidth({ name: 'name' }) });
    await separator.focus();
    await page.keyboard.press('Enter');
    const fitted = await width();
    await page.keyboard.press('ArrowRight');
    await expect.poll(width).toBe(fitted + 16);
    const box = await separator.boundingBox();
    const [x, y] = [(box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + 10];
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 100, y);
    await page.mouse.up();
    await expect.poll(width).toBe(fitted + 116);
    const openMenu = async (name: string): Promise<void> =>
      page.getByRole('button', { name: m.columnMenu({ name }) }).click();
    await openMenu('name');
    await page.getByRole('menuitem', { name: m.moveColumnLeft() }).click();
    await openMenu('length');
    await page.getByRole('menuitem', { name: m.hideColumn() }).click();
    await page
      .getByRole('button', { name: 'Sort by harbour' })
      .dragTo(page.getByRole('button', { name: 'Sort by rig' }));
    await openMenu('name');
    await page.getByRole('menuitem', { name: m.sortDescending() }).click();
    const names = (): Promise<string[]> => page.getByRole('columnheader').locator('bdi').allTextContents();
    const firstRow = (): Promise<string | null> => page.locator('[data-row="0"][data-column="0"]').textContent();
    await expect.poll(firstRow).toContain('Cid');
    await page.reload();
    await page.getByRole('grid').waitFor();
    expect((await names()).slice(0, 4)).toEqual(['name', 'id', 'harbour', 'rig']);
    expect(await width()).toBe(fitted + 116);
    await expect.poll(firstRow).toContain('Cid');
    expect(await header.getAttribute('aria-sort')).toBe('descending');
    await page.getByRole('button', { name: m.moreForTheRows() }).click();
    await page.getByRole('menuitem', { name: m.columns() }).click();
    await page.getByRole('dialog').getByLabel('length', { exact: true }).check({ force: true });
    await page.getByRole('dialog').getByRole('button', { name: m.resetColumns() }).click();
    await page.getByRole('dialog').getByRole('button', { name: m.done() }).click();
    expect((await names()).slice(0, 3)).toEqual(['id', 'name', 'length']);
    expect(browserPage.complaints).toEqual([]);
  });

  it('saves a row over a concurrent change only after the stored value was shown', async () => {
    await using browserPage = await visit('boats');
    const { page } = browserPage;
    await page.getByRole('button', { name: m.openRow({ value: '1' }) }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('name', { exact: true }).fill('Ada III');
    await dialog.getByLabel(m.whatNameHolds({ name: 'notes' })).selectOption(m.defaultPlaceholder());
    await fixture.sql(`update boats set name = 'Ada II', notes = 'new sails', length = 7 where id = 1; select 1`);
    await dialog.getByRole('button', { name: m.save() }).click();
    await dialog.getByText(dataProblems.valueChanged({ value: 'Ada II' })).waitFor();
    await dialog.getByText(dataProblems.valueChanged({ value: 'new sails' })).waitFor();
    expect(await fixture.sql('select name, notes from boats where id = 1')).toEqual([
      { name: 'Ada II', notes: 'new sails' },
    ]);
    await dialog.getByRole('button', { name: m.save() }).click();
    await dialog.waitFor({ state: 'detached' });
    // The other change of the row stays.
    expect(await fixture.sql('select name, notes, length from boats where id = 1')).toEqual([
      { name: 'Ada III', notes: 'none', length: '7' },
    ]);
  });

  it('opens a row by a tap', async () => {
    await using browserPage = await visit('boats', { width: 360, height: 740, touch: true });
    const { page } = browserPage;
    await page.getByRole('gridcell', { name: 'Bea' }).tap();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('name', { exact: true }).fill('Bea of Calais');
    await dialog.getByRole('button', { name: m.save() }).click();
    await expect.poll(() => read('name')).toEqual(['Ada', 'Bea of Calais', 'Cid']);
    expect(browserPage.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using browserPage = await visit('boats', screen);
    const { page } = browserPage;
    await page.getByRole('gridcell', { name: 'Ada' }).waitFor();
    await expectFits(browserPage, 'data-grid', screen);
    if (screen.touch) {
      await page.getByRole('gridcell', { name: 'Ada' }).tap();
      await page.getByRole('dialog').getByLabel('name', { exact: true }).waitFor();
      await expectFits(browserPage, 'data-grid-row', screen);
      return;
    }
    await getCell(page, 0, 'harbour').dblclick();
    await page.getByRole('listbox').getByRole('option').first().waitFor();
    await expectFits(browserPage, 'data-grid-reference', screen);
    await page.keyboard.press('Escape');
    await getCell(page, 0, 'notes').dblclick();
    await expectFits(browserPage, 'data-grid-text', screen);
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: m.columnMenu({ name: 'name' }) }).click();
    await page.getByRole('menuitem', { name: m.hideColumn() }).waitFor();
    await expectFits(browserPage, 'data-grid-menu', screen);
  });
});
