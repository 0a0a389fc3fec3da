import { describe, expect, it } from 'vitest';
import { noBrowser } from '../support/browser.ts';
import { openPages } from './visit.ts';

describe.skipIf(noBrowser)('This machine', () => {
  it('says how it stands in figures while there is no line to draw yet', async () => {
    await using pages = await openPages();
    await using visit = await pages.visit('/settings/machine');
    const { page } = visit;
    await page.getByText('How it stands now.', { exact: false }).waitFor();
    await page
      .getByText(/^[\d.]+ GB of [\d.]+ GB taken$/)
      .first()
      .waitFor();
    expect(await page.getByRole('figure').count()).toBe(0);
    expect(visit.complaints).toEqual([]);
  });
});
