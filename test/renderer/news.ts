import type { Locator, Page } from 'playwright-core';

/** The news of the page that has these words. */
export function newsOf(page: Page, words: string | RegExp): Locator {
  return page.getByRole('region', { name: 'News' }).getByRole('listitem').filter({ hasText: words });
}

/**
 * Closes all news that stands there, so that what waits for its way back to be gone is done. To be called until that is seen:
 * some may come only now, and on a busy machine some has gone by itself.
 */
export async function closeNews(page: Page): Promise<void> {
  const close = page.getByRole('region', { name: 'News' }).getByRole('button', { name: 'Close' });
  await close.evaluateAll((buttons) => {
    for (const button of buttons) (button as HTMLButtonElement).click();
  });
}
