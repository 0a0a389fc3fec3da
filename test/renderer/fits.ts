import * as galleryMessages from '#messages/gallery';
import * as partsMessages from '#messages/parts';
import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { WatchedPage } from '../support/browser.ts';
import { within } from '../support/browser-timeouts.ts';
import { seriousFindings } from './axe.ts';
import { eachLook, type screens } from './screens.ts';

const folder = fileURLToPath(new URL('../../.cache/screenshots', import.meta.url));

/**
 * Asserts that a loaded page fits its width, names everything and logs no errors, in each window and theme of its
 * screen.
 */
export async function expectFits(
  { page, complaints }: WatchedPage,
  name: string,
  screen: (typeof screens)[number],
): Promise<void> {
  // The gallery shows a permanent placeholder.
  const [loading, sample] = [partsMessages.loadingSubject({ subject: '' }), galleryMessages.sampleSubject()];
  await page.getByRole('status', { name: new RegExp(`^${loading}(?!${sample})`) }).waitFor({ state: 'detached' });
  await within(
    `${name} loads its fonts`,
    page.evaluate(() => document.fonts.ready.then(() => undefined)),
  );
  const seen = new Set<number>();
  await eachLook(page, screen, async ({ width, dark }) => {
    const rules = seen.has(width) ? 'contrast' : 'everything';
    seen.add(width);
    const description = `${name} at ${String(width)} px, ${dark ? 'dark' : 'light'}`;
    await photograph(page, `${name}-${String(width)}-${dark ? 'dark' : 'light'}`);
    const over = page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    expect(await within(`${description} tells its width`, over), description).toBeLessThanOrEqual(0);
    expect(await within(`${description} is read by axe`, seriousFindings(page, rules)), description).toEqual([]);
    expect(complaints, description).toEqual([]);
  });
}

/** Writes a screenshot for manual review to `.cache/screenshots` when `HOMEPORT_TEST_PICTURES` is set. */
async function photograph(page: Page, name: string): Promise<void> {
  if (process.env['HOMEPORT_TEST_PICTURES'] === undefined) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: `${folder}/${name}.png`, fullPage: true });
}
