import * as settingsMessages from '#messages/settings';
import { describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { openPages } from './visit.ts';

describe.skipIf(noBrowser)('the computer page', () => {
  it('shows current values while there are too few samples for a chart', async () => {
    await using pages = await openPages();
    await using visit = await pages.visit('/settings/machine');
    const { page } = visit;
    await page.getByText(settingsMessages.fewSamplesNote(), { exact: false }).waitFor();
    await page
      .getByText(/^[\d.]+ (GB )?of [\d.]+ GB used$/)
      .first()
      .waitFor();
    expect(await page.getByRole('figure').count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });

  it('draws a chart when two samples have the same time', async () => {
    await using pages = await openPages();
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    const sample = (at: number) => ({ at, cpu: 0.5, memory: 1e9, own: 1e8, disk: 1e10 });
    const [start, end] = [Date.now() - 3_600_000, Date.now()];
    const samples = [sample(start), sample(start), sample(end)];
    await page.route('**/api/machine/history', (route) =>
      route.fulfill({ json: { memory: 2e9, disk: 2e10, samples, previous: [] } }),
    );
    await page.goto(`${pages.url}/settings/machine`);
    await expect.poll(() => page.getByRole('figure').count()).toBe(4);
    // Figures in GB are as long as they get, and stay on the line of the title.
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.unroute('**/api/machine/history');
    const large = {
      memory: 2e12,
      disk: 2.5e13,
      previous: [],
      samples: samples.map((entry) => ({ ...entry, disk: 1.1e13 })),
    };
    await page.route('**/api/machine/history', (route) => route.fulfill({ json: large }));
    await page.reload();
    await expect.poll(() => page.getByRole('figure').count()).toBe(4);
    const tops = await page
      .getByRole('figure')
      .evaluateAll((elements) => elements.map((figure) => Math.round(figure.getBoundingClientRect().top)));
    expect(new Set(tops).size).toBeLessThanOrEqual(Math.ceil(tops.length / 2));
    expect(visit.complaints).toEqual([]);
  });
});
