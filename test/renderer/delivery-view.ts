import * as deliveryMessages from '#messages/delivery';
import * as mailMessages from '#messages/mail';
import type { Page } from 'playwright-core';

/** Tab of Delivery with several views. */
type TabKey = 'history' | 'incomingMail';

/** Opens a view of a tab of Delivery, such as the emails of the history. */
export async function openDeliveryView(
  page: Page,
  tab: TabKey,
  view: 'mails' | 'notifications' | 'recipients' | 'rules',
): Promise<void> {
  await page.getByRole('tab', { name: deliveryMessages[tab]() }).click();
  await page
    .getByRole('navigation', { name: deliveryMessages[tab]() })
    .getByRole('link', { name: deliveryMessages[view](), exact: true })
    .click();
}

/** Removes a recipient or a rule with the menu of its row. */
export async function removeMailEntry(page: Page, name: string): Promise<void> {
  await page.getByRole('button', { name: mailMessages.moreForName({ name }), exact: true }).click();
  await page.getByRole('menuitem', { name: mailMessages.remove() }).click();
}
