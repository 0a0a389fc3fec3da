import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as partsMessages from '#messages/parts';
import * as settingsMessages from '#messages/settings';
import { noBrowser } from '../support/browser.ts';
import { anyText, matching } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

const sampleCount = 48;
const intervalMs = 30 * 60_000;
const dayMs = 24 * 3_600_000;

/** Samples of two days: the processor load of the last day is twice that of the day before. */
function buildHistory({ hasPrevious = true } = {}): object {
  const now = Date.now();
  const build = (offset: number, factor: number) =>
    Array.from({ length: sampleCount }, (_, index) => ({
      at: now - offset - (sampleCount - 1 - index) * intervalMs,
      cpu: (factor * (10 + index)) / 1000,
      memory: factor * 1e9,
      own: factor * 1e8,
      disk: factor * 1e10,
    }));
  return { memory: 8e9, disk: 1e11, samples: build(0, 2), previous: hasPrevious ? build(dayMs, 1) : [] };
}

async function openCharts(page: Page, url: string, history: object): Promise<Locator> {
  await page.route('**/api/machine/history', (route) => route.fulfill({ json: history }));
  await page.goto(`${url}/settings/machine`);
  const chart = page.getByRole('figure').first();
  await chart.locator('canvas').waitFor();
  return chart;
}

const getReader = (chart: Locator): Locator => chart.getByRole('slider');
const getButton = (chart: Locator, name: string): Locator => chart.getByRole('button', { name, exact: true });

/** Returns the number of rows of the open table, with its header. */
async function countRows(chart: Locator): Promise<number> {
  return chart.getByRole('row').count();
}

/** Drags from one share of the plot's width to another. */
async function drag(page: Page, chart: Locator, from: number, to: number): Promise<void> {
  const box = await chart.locator('.u-over').boundingBox();
  if (box === null) throw new Error('the plot is not visible');
  const y = box.y + box.height / 2;
  await page.mouse.move(box.x + box.width * from, y);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * to, y, { steps: 5 });
  await page.mouse.up();
}

describe.skipIf(noBrowser)('charts', () => {
  let pages: Pages;
  beforeAll(async () => {
    pages = await openPages();
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('compares with the previous period in the legend, above the plot and in the table', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    const chart = await openCharts(page, pages.url, buildHistory());
    const compare = getButton(chart, partsMessages.compare());
    expect(await compare.getAttribute('aria-pressed')).toBe('false');
    await compare.click();
    expect(await compare.getAttribute('aria-pressed')).toBe('true');
    await chart.getByText(partsMessages.previousPeriodChange({ change: '+100%' })).waitFor();
    await getReader(chart).press('End');
    await expect
      .poll(() => getReader(chart).getAttribute('aria-valuetext'))
      .toContain(partsMessages.valueAndPrevious({ value: '11.4%', previous: '5.7%' }));
    await getButton(chart, partsMessages.tableOfValues()).click();
    await chart.getByRole('columnheader', { name: partsMessages.previousPeriod() }).waitFor();
    expect(await chart.getByRole('row').last().getByRole('cell').allInnerTexts()).toEqual([
      expect.any(String),
      '11.4',
      '5.7',
    ]);
    expect(visit.complaints).toEqual([]);
  });

  it('offers no comparison without stored values of the previous period', async () => {
    await using visit = await pages.visit('/settings/log');
    const chart = await openCharts(visit.page, pages.url, buildHistory({ hasPrevious: false }));
    await getButton(chart, partsMessages.zoomIn()).waitFor();
    expect(await getButton(chart, partsMessages.compare()).count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('zooms to a dragged range until a double click, and with buttons', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    const chart = await openCharts(page, pages.url, buildHistory());
    await getButton(chart, partsMessages.tableOfValues()).click();
    await expect.poll(() => countRows(chart)).toBe(sampleCount + 1);
    await drag(page, chart, 0.25, 0.5);
    await expect.poll(() => countRows(chart)).toBeLessThan(sampleCount / 2);
    expect(await countRows(chart)).toBeGreaterThan(sampleCount / 6);
    await chart.locator('.u-over').dblclick();
    await expect.poll(() => countRows(chart)).toBe(sampleCount + 1);
    await getButton(chart, partsMessages.zoomIn()).click();
    await expect.poll(() => countRows(chart)).toBe(sampleCount / 2 + 1);
    await getButton(chart, partsMessages.zoomOut()).click();
    await expect.poll(() => countRows(chart)).toBe(sampleCount + 1);
    expect(await getButton(chart, partsMessages.zoomOut()).isDisabled()).toBe(true);
    await getButton(chart, partsMessages.zoomIn()).click();
    await getButton(chart, partsMessages.showAllValues()).click();
    await expect.poll(() => countRows(chart)).toBe(sampleCount + 1);
    expect(visit.complaints).toEqual([]);
  });

  it('is read and zoomed with the keyboard, and moves with the selected point', async () => {
    await using visit = await pages.visit('/settings/log');
    const chart = await openCharts(visit.page, pages.url, buildHistory());
    await getButton(chart, partsMessages.tableOfValues()).click();
    const reader = getReader(chart);
    await reader.press('Home');
    await expect.poll(() => reader.getAttribute('aria-valuenow')).toBe('0');
    await reader.press('ArrowRight');
    await expect.poll(() => reader.getAttribute('aria-valuetext')).toContain('2.2%');
    await reader.press('+');
    await expect.poll(() => countRows(chart)).toBe(sampleCount / 2 + 1);
    await chart
      .getByText(matching(partsMessages.zoomedTo({ from: anyText, to: anyText })))
      .waitFor({ state: 'attached' });
    // The end is outside the visible range, which follows.
    await reader.press('End');
    await expect.poll(() => reader.getAttribute('aria-valuenow')).toBe(String(sampleCount - 1));
    await expect.poll(() => chart.getByRole('row').last().innerText()).toContain('11.4');
    expect(await countRows(chart)).toBe(sampleCount / 2 + 1);
    await reader.press('Escape');
    await expect.poll(() => countRows(chart)).toBe(sampleCount + 1);
    expect(visit.complaints).toEqual([]);
  });

  it('copies the visible values as CSV', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const chart = await openCharts(page, pages.url, buildHistory());
    await getButton(chart, partsMessages.tableOfValues()).click();
    await getButton(chart, partsMessages.copyAsCsv()).click();
    await chart.getByText(partsMessages.copied()).waitFor();
    const lines = (await page.evaluate(() => navigator.clipboard.readText())).trim().split(/\r?\n/);
    expect(lines).toHaveLength(sampleCount + 1);
    expect(lines[0]).toBe(
      `${partsMessages.time()},${partsMessages.nameWithUnit({ name: settingsMessages.busy(), unit: '%' })}`,
    );
    expect(lines.at(-1)).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z,11\.4$/);
    expect(visit.complaints).toEqual([]);
  });

  it('shows the values in the table when the chart library cannot be loaded', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    await page.route('**/api/machine/history', (route) => route.fulfill({ json: buildHistory() }));
    await page.route(/uPlot[^/]*\.js$/i, (route) => route.abort());
    await page.goto(`${pages.url}/settings/machine`);
    await page.getByText(partsMessages.chartNotLoaded()).first().waitFor();
    await expect.poll(() => countRows(page.getByRole('figure').first())).toBe(sampleCount + 1);
  });

  it('says that a period has no values', async () => {
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    const history = buildHistory() as { samples: object[] };
    const samples = history.samples.map((sample) => ({ ...sample, cpu: null }));
    await page.route('**/api/machine/history', (route) => route.fulfill({ json: { ...history, samples } }));
    await page.goto(`${pages.url}/settings/machine`);
    await page.getByRole('figure').first().getByText(partsMessages.noValuesInPeriod()).waitFor();
    expect(visit.complaints).toEqual([]);
  });

  it('reads the value under a finger', async () => {
    await using visit = await pages.visit('/settings/log', { width: 360, height: 740, touch: true });
    const chart = await openCharts(visit.page, pages.url, buildHistory());
    const box = await chart.locator('.u-over').boundingBox();
    if (box === null) throw new Error('the plot is not visible');
    await visit.page.touchscreen.tap(box.x + 2, box.y + box.height / 2);
    await expect.poll(() => getReader(chart).getAttribute('aria-valuenow')).toBe('0');
    expect(visit.complaints).toEqual([]);
  });

  it.each(screens)('fits and is accessible on $on while it is compared and zoomed', async (screen) => {
    await using visit = await pages.visit('/settings/log', screen);
    const { page } = visit;
    const chart = await openCharts(page, pages.url, buildHistory());
    await getButton(chart, partsMessages.compare()).click();
    await getButton(chart, partsMessages.zoomIn()).click();
    await getButton(chart, partsMessages.tableOfValues()).click();
    await page.getByRole('heading', { name: settingsMessages.disk() }).waitFor();
    await expectFits(visit, 'charts', screen);
    expect(visit.complaints).toEqual([]);
  });
});
