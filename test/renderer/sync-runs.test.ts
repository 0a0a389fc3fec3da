import { renameSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as partsMessages from '#messages/parts';
import * as syncMessages from '#messages/sync';
import { inbox } from '../../services/inbox/index.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { lacksRclone, openSyncFixture, until, type SyncFixture } from '../services/sync/sync-fixture.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser || lacksRclone)('the chart of runs', () => {
  let fixture: SyncFixture;
  let task = 0;

  const run = async (): Promise<void> => {
    const { id } = await fixture.api('POST', `/api/sync/tasks/${String(task)}/run`, {});
    await until(
      () => fixture.api('GET', `/api/sync/jobs/${String(id)}`),
      ({ job }) => job.endedAt !== null,
    );
  };

  beforeAll(async () => {
    fixture = await openSyncFixture({ services: [inbox] });
    fixture.write({ 'music/a.flac': 'a'.repeat(3000), 'music/b.flac': 'b'.repeat(5000) });
    const fields = {
      name: 'Music',
      mode: 'copy',
      source: `${fixture.folder}/music`,
      destination: `${fixture.folder}/b`,
    };
    task = (await fixture.api('POST', '/api/sync/tasks', { ...fields, retries: 0, notify: 'never' })).id;
    await run();
    fixture.write({ 'music/c.flac': 'c'.repeat(1000) });
    await run();
    renameSync(`${fixture.folder}/music`, `${fixture.folder}/moved`);
    await run();
  });
  afterAll(() => fixture[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(await getBrowser(), options);
    await signIn(browserPage.page.context(), fixture.host.url('control'));
    await browserPage.page.goto(`${fixture.host.url('control')}${path}`);
    return browserPage;
  };

  it('shows size, files and results of the runs of a sync, also as a table', async () => {
    await using page = await visit(`/sync/syncs/${String(task)}`);
    const chart = page.page.getByRole('figure').first();
    const summarize = (metric: string): string => syncMessages.runsChartSummary({ metric, count: 3, failed: 1 });
    await chart.getByRole('img', { name: summarize(syncMessages.runSize()) }).waitFor();
    // The legend names only the results that the runs have; bars of successful runs have no mark.
    await chart.getByRole('listitem').filter({ hasText: syncMessages.runsFailed() }).waitFor();
    expect(await chart.getByRole('listitem').count()).toBe(1);
    const reader = chart.getByRole('slider');
    await reader.press('Home');
    await expect.poll(() => reader.getAttribute('aria-valuetext')).toContain(`8 kB · ${syncMessages.runsDone()}`);
    await reader.press('End');
    await expect.poll(() => reader.getAttribute('aria-valuetext')).toContain(syncMessages.runsFailed());
    await page.page.getByRole('radio', { name: syncMessages.runFiles() }).check();
    await chart.getByRole('img', { name: summarize(syncMessages.runFiles()) }).waitFor();
    await chart.getByRole('button', { name: partsMessages.tableOfValues() }).click();
    const rows = await chart.getByRole('row').allInnerTexts();
    expect(rows).toHaveLength(4);
    expect(rows[1]).toContain('2 files copied');
    expect(rows[2]).toContain('1 file copied');
    expect(page.complaints).toEqual([]);
  });

  it('opens a run by a click on its bar, by its value and by keyboard', async () => {
    await using page = await visit(`/sync/syncs/${String(task)}`);
    const chart = page.page.getByRole('figure').first();
    const isRun = (): boolean => /^\/sync\/history\/\d+$/.test(new URL(page.page.url()).pathname);
    const area = chart.locator('.u-over');
    await area.waitFor();
    await area.hover();
    await area.click();
    await expect.poll(isRun).toBe(true);
    await page.page.goBack();
    await chart.getByRole('slider').press('Home');
    const href = await chart.getByRole('link').getAttribute('href');
    await chart.getByRole('slider').press('Enter');
    await expect.poll(() => new URL(page.page.url()).pathname).toBe(href);
    expect(page.complaints).toEqual([]);
  });

  it.each(screens)('fits on the overview on $on', async (screen) => {
    await using page = await visit('/sync', screen);
    await page.page.getByRole('heading', { name: syncMessages.runsChartTitle() }).waitFor();
    await page.page.getByRole('figure').first().locator('canvas').waitFor();
    await expectFits(page, 'sync-runs', screen);
  });
});
