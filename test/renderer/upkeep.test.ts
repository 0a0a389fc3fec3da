import * as hostProblems from '#messages/host-problems';
import * as backupMessages from '#messages/backup';
import * as logMessages from '#messages/log';
import * as partsMessages from '#messages/parts';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { textLine } from '../../main/host/log/format.ts';
import { noBrowser } from '../support/browser.ts';
import { anyText, containing, matching, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { closeToasts } from './toasts.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

/** Creates more lines of a former start than one page of the log has. */
function earlierLines(): string {
  const line = (index: number): string =>
    textLine({
      id: index,
      at: Date.UTC(2026, 2, 2, 10) + index,
      level: 'info',
      service: 'mail',
      message: `old line ${String(index)}`,
      fields: { sizes: [1, 2], disk: { free: 5 } },
    });
  return `${Array.from({ length: 600 }, (_, index) => line(index)).join('\n')}\n`;
}

describe.skipIf(noBrowser)('the upkeep pages', () => {
  let pages: Pages;
  let folder: string;
  let dataDir: string;
  let restarts = 0;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'homeport-backups-'));
    dataDir = mkdtempSync(join(tmpdir(), 'homeport-house-'));
    mkdirSync(join(dataDir, 'logs'));
    writeFileSync(join(dataDir, 'logs', 'homeport.log'), earlierLines());
    pages = await openPages({
      dataDir,
      environment: { HOMEPORT_BACKUP_FOLDER: folder },
      restartHost: () => (restarts += 1),
    });
  });
  afterAll(async () => {
    await pages[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('creates, downloads and removes a backup with Undo', async () => {
    await using visit = await pages.visit('/settings/backup');
    const { page } = visit;
    await page.getByText(backupMessages.noBackupYet()).waitFor();
    await page.getByRole('button', { name: backupMessages.makeABackup() }).click();
    const rows = page.getByRole('list', { name: backupMessages.backups() }).getByRole('listitem');
    await rows.first().waitFor();
    const [name = ''] = readdirSync(folder);
    const loading = page.waitForEvent('download');
    await page.getByRole('link', { name: startingWith(backupMessages.downloadBackup({ name: 'homeport-' })) }).click();
    const loaded = await (await loading).path();
    expect(readFileSync(loaded).equals(readFileSync(join(folder, name)))).toBe(true);
    await page.getByText(backupMessages.fromATerminal(), { exact: true }).click();
    await page.getByText(`restore "${folder}/${name}" --force`).waitFor();
    await page.getByRole('button', { name: backupMessages.removeName({ name }) }).click();
    await page.getByText(backupMessages.noBackupYet()).waitFor();
    await page.getByRole('button', { name: partsMessages.undo() }).click();
    await rows.first().waitFor();
    await page.getByRole('button', { name: backupMessages.removeName({ name }) }).click();
    await expect.poll(() => closeToasts(page).then(() => readdirSync(folder))).toEqual([]);
    expect(visit.complaints).toEqual([]);
  });

  it('uploads a backup of another computer, and offers to restore it', async () => {
    await using visit = await pages.visit('/settings/backup');
    const { page } = visit;
    const rows = page.getByRole('list', { name: backupMessages.backups() }).getByRole('listitem');
    await page.getByRole('button', { name: backupMessages.makeABackup() }).click();
    await rows.first().waitFor();
    const [name = ''] = readdirSync(folder);
    const bytes = readFileSync(join(folder, name));
    await page.getByRole('button', { name: backupMessages.removeName({ name }) }).click();
    await expect.poll(() => closeToasts(page).then(() => readdirSync(folder))).toEqual([]);
    const chooser = page
      .getByLabel(partsMessages.chooseSubject({ subject: 'a backup file' }))
      .and(page.locator('input'));
    await chooser.setInputFiles({ name: 'half.tar.gz', mimeType: 'application/gzip', buffer: bytes.subarray(0, 900) });
    await page.getByText(startingWith(hostProblems.backupDamaged({ reason: anyText }))).waitFor();
    await chooser.setInputFiles({ name: 'old.tar.gz', mimeType: 'application/gzip', buffer: bytes });
    const dialog = page.getByRole('dialog', {
      name: matching(backupMessages.restoreBackupCreatedAt({ createdAt: anyText })),
    });
    await dialog.getByText(startingWith(backupMessages.backupWhole({ version: anyText }))).waitFor();
    await dialog.getByRole('button', { name: backupMessages.cancel() }).click();
    expect(await rows.count()).toBe(1);
    await page.getByRole('button', { name: backupMessages.removeName({ name }) }).click();
    await expect.poll(() => closeToasts(page).then(() => readdirSync(folder))).toEqual([]);
    expect(visit.complaints.filter((line) => !line.includes('422'))).toEqual([]);
  });

  it('shows the contents of a backup, and restores it after a typed confirmation', async () => {
    await using visit = await pages.visit('/settings/backup');
    const { page } = visit;
    await page.getByRole('button', { name: backupMessages.makeABackup() }).click();
    const restore = page.getByRole('button', {
      name: startingWith(backupMessages.restoreBackup({ name: 'homeport-' })),
    });
    await restore.click();
    const dialog = page.getByRole('dialog', {
      name: matching(backupMessages.restoreBackupCreatedAt({ createdAt: anyText })),
    });
    const contents = dialog.getByRole('region', { name: backupMessages.whatItHolds() });
    await contents
      .getByRole('row', { name: startingWith(`${backupMessages.settingsAccountsAndKeys()} ${anyText}`) })
      .waitFor();
    await dialog.getByText(containing(backupMessages.restoreConsequences({ createdAt: anyText }))).waitFor();
    const go = dialog.getByRole('button', { name: backupMessages.restoreAndStartAnew() });
    await dialog.getByLabel(backupMessages.confirmLabel({ word: backupMessages.confirmWord() })).fill('yes');
    expect(await go.isDisabled()).toBe(true);
    expect(restarts).toBe(0);
    await dialog.getByLabel(backupMessages.confirmLabel({ word: backupMessages.confirmWord() })).fill('restore');
    await page.keyboard.press('Enter');
    await page.getByText(startingWith(backupMessages.restoringBackup({ createdAt: anyText }))).waitFor();
    await expect.poll(() => restarts).toBe(1);
    // A damaged backup shows an error instead of its contents.
    for (const name of readdirSync(folder)) writeFileSync(join(folder, name), 'no archive');
    await restore.click();
    await dialog
      .getByRole('alert')
      .getByText(startingWith(hostProblems.backupDamaged({ reason: anyText })))
      .waitFor();
    expect(await go.count()).toBe(0);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('offers to put back or delete data that a restore replaced', async () => {
    // A separate host, because removals of the previous test must not run during a restore.
    const folders = mkdtempSync(join(tmpdir(), 'homeport-replaced-'));
    using _folders = { [Symbol.dispose]: () => rmSync(folders, { recursive: true, force: true }) };
    for (const time of ['2026-03-04T05-06-07-008Z', '2026-04-05T06-07-08-009Z']) {
      mkdirSync(join(folders, `.before-restore-${time}`));
    }
    await using folderPages = await openPages({ dataDir: folders });
    await using visit = await folderPages.visit('/settings/backup');
    const { page } = visit;
    const rows = page.getByRole('list', { name: backupMessages.replacedByARestore() }).getByRole('listitem');
    await rows
      .first()
      .getByText(startingWith(backupMessages.dataUntilCreatedAt({ createdAt: `Sunday${anyText} 5 April 2026` })))
      .waitFor();
    await rows
      .first()
      .getByRole('button', { name: startingWith(backupMessages.removeName({ name: anyText })) })
      .click();
    const findFolders = (): readonly string[] => readdirSync(folders).filter((name) => name.includes('2026-04'));
    await expect.poll(() => closeToasts(page).then(findFolders)).toEqual([]);
    await rows
      .getByText(startingWith(backupMessages.dataUntilCreatedAt({ createdAt: `Wednesday${anyText} 4 March 2026` })))
      .waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('loads log lines of earlier starts, formatted, with a heading for each day', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    const lines = page.getByRole('region', { name: logMessages.lines() });
    await lines
      .getByText(matching(logMessages.hostReady({ version: anyText })))
      .first()
      .waitFor();
    await lines.getByText('old line 599').waitFor();
    expect(await lines.getByText(/old line 3\b/).count()).toBe(0);
    await page.getByRole('button', { name: logMessages.earlierLines() }).click();
    const first = lines.getByRole('row').filter({ hasText: /old line 3\b/ });
    await first.getByText('sizes 1 2, disk free 5').waitFor();
    await lines.getByRole('rowheader', { name: /^Monday,? 2 March 2026$/ }).waitFor();
    await page.getByText(logMessages.paused(), { exact: true }).waitFor();
    await page.getByRole('searchbox', { name: logMessages.searchTheLog() }).fill('old line 4');
    await expect.poll(() => lines.getByRole('row').filter({ hasText: 'old line' }).count()).toBe(111);
    await page.getByLabel(logMessages.leastLevel()).selectOption(logMessages.errors());
    await page.getByText(logMessages.noLinesFit()).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('shows what failed and why in the log, counts repeats, and keeps stack traces', async () => {
    for (let count = 0; count < 5; count += 1) {
      pages.host.host.log.warn('job failed permanently', {
        event: 'job_failed',
        kind: 'notify.deliver',
        id: count,
        error: new Error('the lamp does not answer'),
      });
      pages.host.host.log.warn('delivery failed permanently', {
        event: 'delivery_failed',
        reason: 'nobody is at the door',
      });
    }
    for (const key of ['harbour', 'lamp'])
      pages.host.host.log.info('configuration saved', { event: 'destinations_saved', key });
    pages.host.host.log.info('settings changed', {
      event: 'settings_saved',
      fields: ['host.logLevel', 'host.unheardOf'],
    });
    pages.host.host.log.info('backup written', {
      event: 'backup_written',
      name: 'homeport.tar.gz',
      bytes: 5_589_166,
      files: 1146,
    });
    pages.host.host.log.info('sleep detected', { event: 'sleep_detected', ms: 723_064 });
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    await page.getByText(logMessages.computerSlept({ duration: '12 min' })).waitFor();
    // Lines with different names are not grouped.
    for (const key of ['harbour', 'lamp']) {
      await page.getByText(logMessages.destinationsSavedAt({ key }), { exact: true }).waitFor();
    }
    await page.getByText(logMessages.aBackupWasWritten({ size: '5.6 MB', files: 1146 })).waitFor();
    // Settings are shown with their titles.
    await page.getByText(logMessages.settingsChanged({ settings: 'Log level (Homeport), unheardOf' })).waitFor();
    const row = page
      .getByRole('region', { name: logMessages.lines() })
      .getByRole('row')
      .filter({ hasText: 'does not answer' });
    await row.getByText(logMessages.failureGivenUp({ failure: 'A notification wasn’t delivered' })).waitFor();
    await row.getByText('The lamp does not answer').waitFor();
    await row.getByText(/^5 times since/).waitFor();
    expect(await row.count()).toBe(1);
    await page
      .getByRole('row')
      .filter({ hasText: 'Nobody is at the door' })
      .getByText(/^5 times since/)
      .waitFor();
    expect(await row.getByText('upkeep.test.ts').isVisible()).toBe(false);
    await row.getByText(logMessages.technicalDetails()).click();
    await row.getByText('upkeep.test.ts').waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('enables the daily backup', async () => {
    await using visit = await pages.visit('/settings/backup');
    const { page } = visit;
    await page.getByRole('switch', { name: backupMessages.makeBackupEveryDay() }).click();
    await expect
      .poll(() => readFileSync(join(pages.host.dataDir, 'homeport.yaml'), 'utf8'))
      .toContain('backupEveryDays: 1');
  });

  it('follows the log, pauses under the pointer, and copies a report without secrets', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const lines = page.getByRole('region', { name: logMessages.lines() });
    await lines
      .getByText(matching(logMessages.hostReady({ version: anyText })))
      .first()
      .waitFor();
    pages.host.host.log.warn('the lamp is dim', { oil: 'low' });
    await lines.getByText('the lamp is dim').waitFor();
    await lines.hover();
    await page.getByText(logMessages.waitsWhilePoint()).waitFor();
    await page.mouse.move(0, 0);
    await page.getByText(logMessages.newLinesAppearHere()).waitFor();
    await page.getByRole('button', { name: logMessages.pause() }).click();
    await page.getByText(logMessages.paused(), { exact: true }).waitFor();
    await page.getByRole('button', { name: logMessages.copyAReport() }).click();
    await page.getByText(logMessages.theReportIsCopied()).waitFor();
    const report = await page.evaluate(() => navigator.clipboard.readText());
    expect(report).toContain('the lamp is dim');
    expect(report).not.toContain('correct horse battery');
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: logMessages.saveAsAFile() }).click();
    expect(readFileSync(await (await saving).path(), 'utf8')).toContain('host is ready');
    expect(visit.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using backup = await pages.visit('/settings/backup', screen);
    await backup.page
      .getByRole('button', { name: /^Restore/ })
      .or(backup.page.getByText(backupMessages.noBackupYet()))
      .waitFor();
    await expectFits(backup, 'backup', screen);
    // Only a few lines, because checking hundreds takes a minute.
    await using log = await pages.visit('/settings/log?q=line%2059', screen);
    await log.page.getByRole('region', { name: logMessages.lines() }).waitFor();
    await expectFits(log, 'log', screen);
  });
});
