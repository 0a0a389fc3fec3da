import { mkdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import type { WatchedPage } from '../support/browser.ts';
import { seriousFindings } from './axe.ts';
import type { screens } from './screens.ts';

/** Photographs for a person to judge. */
const folder = fileURLToPath(new URL('../../.cache/screenshots', import.meta.url));

/** Photographs a page that is ready, and asserts that it fits its width, names everything and complains about nothing. */
export async function expectFits(
  { page, complaints }: WatchedPage,
  name: string,
  screen: (typeof screens)[number],
): Promise<void> {
  mkdirSync(folder, { recursive: true });
  await page.getByRole('status', { name: /^Reading / }).waitFor({ state: 'detached' });
  await page.evaluate(() => document.fonts.ready.then(() => undefined));
  await page.screenshot({
    path: `${folder}/${name}-${String(screen.width)}-${screen.dark ? 'dark' : 'light'}.png`,
    fullPage: true,
  });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0);
  expect(await seriousFindings(page)).toEqual([]);
  expect(complaints).toEqual([]);
}
