import * as partsMessages from '#messages/parts';
import type { Locator, Page } from 'playwright-core';

/** Returns the toast with this text. */
export function getToast(page: Page, text: string | RegExp): Locator {
  return page.getByRole('region', { name: partsMessages.news() }).getByRole('listitem').filter({ hasText: text });
}

/**
 * Closes all toasts, so that pending removals are carried out. It must be repeated until that is visible, because
 * toasts may appear late or expire on a busy computer.
 */
export async function closeToasts(page: Page): Promise<void> {
  const close = page
    .getByRole('region', { name: partsMessages.news() })
    .getByRole('button', { name: partsMessages.close() });
  await close.evaluateAll((buttons) => {
    for (const button of buttons) (button as HTMLButtonElement).click();
  });
}
