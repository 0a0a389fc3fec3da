import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

describe.skipIf(noBrowser)('the pages that keep the house', () => {
  let pages: Pages;
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-backups-'));
    pages = await openPages({ environment: { HOMEPORT_BACKUP_FOLDER: folder } });
  });
  afterAll(async () => {
    await pages[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });

  it('Backup: makes one, loads it, and removes it with a way back', async () => {
    await using visit = await pages.visit('/settings/backup');
    const { page } = visit;
    await page.getByText('No backup yet.').waitFor();
    await page.getByRole('button', { name: 'Make a backup' }).click();
    const rows = page.getByRole('list', { name: 'Backups' }).getByRole('listitem');
    await rows.first().waitFor();
    const [name = ''] = readdirSync(folder);
    const loading = page.waitForEvent('download');
    await page.getByRole('link', { name: /^Load/ }).click();
    const loaded = await (await loading).path();
    expect(readFileSync(loaded).equals(readFileSync(join(folder, name)))).toBe(true);
    await page.getByText(`restore "${folder}/${name}" --force`).waitFor();
    await page.getByRole('button', { name: `Remove ${name}` }).click();
    await page.getByText('No backup yet.').waitFor();
    await page.getByRole('button', { name: 'Undo' }).click();
    await rows.first().waitFor();
    await page.getByRole('button', { name: `Remove ${name}` }).click();
    await page.getByRole('region', { name: 'News' }).getByRole('button', { name: 'Close' }).last().click();
    await expect.poll(() => readdirSync(folder)).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('Backup: switches the daily one on', async () => {
    await using visit = await pages.visit('/settings/backup');
    const { page } = visit;
    await page.getByRole('switch', { name: 'Make a backup every day' }).click();
    await expect
      .poll(() => readFileSync(join(pages.host.dataDir, 'homeport.yaml'), 'utf8'))
      .toContain('backupEveryDays: 1');
  });

  it('Log: follows what happens, waits while it is pointed at, and copies a report without secrets', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const lines = page.getByRole('region', { name: 'Lines' });
    await lines.getByText('host is ready').first().waitFor();
    pages.host.host.log.warn('the lamp is dim', { oil: 'low' });
    await lines.getByText('the lamp is dim').waitFor();
    await lines.hover();
    await page.getByText('Waits while you point at it').waitFor();
    await page.mouse.move(0, 0);
    await page.getByText('Follows', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByText('Paused', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Copy a report' }).click();
    await page.getByText('The report is copied.').waitFor();
    const report = await page.evaluate(() => navigator.clipboard.readText());
    expect(report).toContain('the lamp is dim');
    expect(report).not.toContain('correct horse battery');
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    expect(readFileSync(await (await saving).path(), 'utf8')).toContain('host is ready');
    expect(visit.complaints).toEqual([]);
  });

  it.each(screens)('fit on $on', async (screen) => {
    await using backup = await pages.visit('/settings/backup', screen);
    await backup.page.getByRole('heading', { name: 'Restore' }).waitFor();
    await expectFits(backup, 'backup', screen);
    await using log = await pages.visit('/settings/log', screen);
    await log.page.getByRole('region', { name: 'Lines' }).waitFor();
    await expectFits(log, 'log', screen);
  });
});
