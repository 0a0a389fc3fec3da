import * as m from '#messages/sync';
import { undo } from '#messages/parts';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inbox } from '../../services/inbox/index.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { lacksRclone, openSyncFixture, type SyncFixture } from '../services/sync/sync-fixture.ts';
import { anyText, containing } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

/** A picture of one pixel. */
const picture = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

describe.skipIf(noBrowser || lacksRclone)('The files of Sync', () => {
  let fixture: SyncFixture;
  const at = (name: string): string => join(fixture.folder, name);

  beforeAll(async () => {
    fixture = await openSyncFixture({ services: [inbox] });
    fixture.write({ 'home/notes.txt': 'lamp and beam', 'home/old.txt': 'old', 'home/album/a.txt': 'a' });
    writeFileSync(at('home/harbour.png'), picture);
    mkdirSync(at('backup'));
    mkdirSync(at('many'));
    for (let index = 0; index < 10_000; index++) writeFileSync(at(`many/file ${String(index)}.txt`), '');
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (query: Readonly<Record<string, string>>, options = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}/sync/files?${new URLSearchParams(query).toString()}`);
    await browserPage.page.getByRole('heading', { level: 1 }).waitFor();
    return browserPage;
  };

  it('creates a folder, uploads into it, and asks before it replaces a file', async () => {
    await using browserPage = await visit({ at: at('home') });
    const { page } = browserPage;
    await page.getByRole('button', { name: m.newFolder() }).click();
    await page.getByLabel(m.name(), { exact: true }).fill('uploads');
    await page.getByRole('button', { name: m.createFolder() }).click();
    await page.getByRole('button', { name: 'uploads', exact: true }).click();
    await page.getByText(m.thisFolderIsEmpty()).waitFor();
    const file = (text: string) => ({ name: 'new.txt', mimeType: 'text/plain', buffer: Buffer.from(text) });
    const input = page.locator('input[type=file]');
    await input.setInputFiles(file('one'));
    await page.getByRole('button', { name: 'new.txt', exact: true }).waitFor();
    expect(readFileSync(at('home/uploads/new.txt'), 'utf8')).toBe('one');
    await input.setInputFiles(file('two'));
    await page.getByText(m.uploadExists({ name: 'new.txt' })).waitFor();
    await page.getByRole('button', { name: m.replace(), exact: true }).click();
    await page.getByText(m.uploadExists({ name: 'new.txt' })).waitFor({ state: 'detached' });
    await expect.poll(() => readFileSync(at('home/uploads/new.txt'), 'utf8')).toBe('two');
  });

  it('renames, deletes and undoes the deletion with the keyboard', async () => {
    await using browserPage = await visit({ at: at('home') });
    const { page } = browserPage;
    await page.getByRole('button', { name: 'old.txt', exact: true }).focus();
    await page.keyboard.press('F2');
    await page.getByRole('dialog').getByLabel(m.name(), { exact: true }).fill('older.txt');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'older.txt', exact: true }).waitFor();
    await page.getByRole('button', { name: 'notes.txt', exact: true }).focus();
    await page.keyboard.press('ArrowDown');
    await expect.poll(() => page.evaluate(() => document.activeElement?.textContent)).toBe('older.txt');
    await page.keyboard.press('Delete');
    await page.getByText(m.deletedItems({ count: 1 })).waitFor();
    await page.getByRole('button', { name: 'older.txt', exact: true }).waitFor({ state: 'detached' });
    expect([existsSync(at('home/old.txt')), existsSync(at('home/older.txt'))]).toEqual([false, false]);
    await page.getByRole('button', { name: undo() }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'older.txt', exact: true }).waitFor();
    expect(readFileSync(at('home/older.txt'), 'utf8')).toBe('old');
  });

  it('asks before it deletes files from the trash permanently', async () => {
    fixture.write({ 'home/.homeport-trash/kept/gone.txt': 'gone' });
    await using browserPage = await visit({ at: at('home/.homeport-trash/kept') });
    const { page } = browserPage;
    await page.getByRole('button', { name: 'gone.txt', exact: true }).focus();
    await page.keyboard.press('Delete');
    await page.getByText(m.deleteWarning()).waitFor();
    await page.getByRole('button', { name: m.deleteItems({ count: 1 }) }).click();
    await page.getByRole('button', { name: 'gone.txt', exact: true }).waitFor({ state: 'detached' });
    expect(existsSync(at('home/.homeport-trash/kept/gone.txt'))).toBe(false);
    expect(await page.getByRole('button', { name: undo() }).count()).toBe(0);
  });

  it('copies from one pane to the other', async () => {
    await using browserPage = await visit({ at: at('home'), to: at('backup'), panes: '2' });
    const { page } = browserPage;
    const [source, target] = [at('home'), at('backup')].map((name) => page.getByRole('region', { name, exact: true }));
    await source?.getByLabel(m.selectNamed({ name: 'album' })).check();
    await source?.getByLabel(m.selectNamed({ name: 'notes.txt' })).check();
    await source?.getByRole('button', { name: m.copyToNamed({ name: 'backup' }) }).click();
    await target?.getByRole('button', { name: 'album', exact: true }).waitFor();
    await target?.getByRole('button', { name: 'notes.txt', exact: true }).waitFor();
    expect(readFileSync(at('backup/album/a.txt'), 'utf8')).toBe('a');
    expect(browserPage.complaints).toEqual([]);
  });

  it('shows pictures and texts', async () => {
    await using browserPage = await visit({ at: at('home') });
    const { page } = browserPage;
    await page.getByRole('button', { name: 'notes.txt', exact: true }).click();
    await page.getByText('lamp and beam').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'harbour.png', exact: true }).click();
    const image = page.getByRole('img', { name: 'harbour.png' });
    await expect.poll(() => image.evaluate((element: HTMLImageElement) => element.naturalWidth)).toBe(1);
  });

  it('lists ten thousand files, of which only the visible ones are rendered', async () => {
    await using browserPage = await visit({ at: at('many') });
    const { page } = browserPage;
    await page.getByText(m.fileCountAndSize({ count: 10_000, size: '0 B' })).waitFor();
    await page.getByRole('button', { name: 'file 0.txt', exact: true }).focus();
    await page.keyboard.press('Control+a');
    await page.getByText(m.selectedCount({ count: 10_000 })).waitFor();
    expect(await page.getByRole('checkbox').count()).toBeLessThan(100);
  });

  it('shows the used storage of a remote', async () => {
    const parameters = { remote: at('backup') };
    await fixture.api('POST', '/api/sync/remotes', { name: 'disk', type: 'alias', parameters });
    await using browserPage = await visit({});
    const { page } = browserPage;
    await page.goto(`${fixture.host.url('control')}/sync/remotes`);
    await page
      .getByText(containing(m.storageUsedOf({ used: anyText, total: anyText })))
      .first()
      .waitFor();
  });

  it.each(screens)('fits and is accessible on $on', async (screen) => {
    for (const [name, query] of [
      ['one', { at: at('home') }],
      ['two', { at: at('home'), to: at('backup'), panes: '2' }],
    ] as const) {
      await using browserPage = await visit(query, screen);
      const { page } = browserPage;
      await page
        .getByLabel(m.selectNamed({ name: 'notes.txt' }))
        .first()
        .check();
      await expectFits(browserPage, `sync-files-${name}`, screen);
    }
  });
});
