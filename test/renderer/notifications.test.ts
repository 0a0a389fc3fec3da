import * as partsMessages from '#messages/parts';
import * as settingsFormMessages from '#messages/settings-form';
import * as accessMessages from '#messages/access';
import * as frameMessages from '#messages/frame';
import * as notificationsMessages from '#messages/notifications';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { SettingsView } from '../../services/contracts/control/settings.ts';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { notify } from '../../services/notify/index.ts';
import { popups } from '../../services/popups/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { noBrowser, signIn } from '../support/browser.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { openPages, type Pages } from './visit.ts';

const bob = { name: 'bob', password: 'long enough' };

describe.skipIf(noBrowser)('the Notifications and quiet hours page', () => {
  let pages: Pages;
  const sendRequest = (method: string, path: string, body: unknown): Promise<any> =>
    api(pages.url, `/api${path}`, { method, body: JSON.stringify(body) });

  beforeAll(async () => {
    pages = await openPages({ services: [notify, push, popups, inbox, control] });
    await sendRequest('POST', '/notify/keys', {
      key: 'night',
      text: 'json://127.0.0.1:9/hall?quiet=22:00-07:00\ninbox://\n',
    });
    await sendRequest('PUT', '/push/quiet', { rules: [{ topics: 'doors', mode: 'always' }] });
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  it('lists popups, topics, and destinations with links to their settings', async () => {
    await using visit = await pages.visit('/settings');
    const { page } = visit;
    await page
      .getByRole('navigation', { name: frameMessages.homeportItself() })
      .getByRole('link', { name: notificationsMessages.notificationsAndQuietHours() })
      .click();
    await page.getByRole('switch', { name: notificationsMessages.popupSound() }).waitFor();
    await page
      .getByRole('list', { name: notificationsMessages.rules() })
      .getByRole('link', { name: 'doors' })
      .waitFor();
    const destination = page
      .getByRole('list', { name: notificationsMessages.destinationsOfDelivery() })
      .getByRole('link');
    await expect.poll(() => destination.count()).toBe(2);
    expect(await destination.first().innerText()).toContain(
      partsMessages.timeSpan({ days: partsMessages.everyDay(), from: '22:00', to: '07:00' }),
    );
    await destination.first().click();
    await page.waitForURL('**/delivery/keys/night');
    expect(visit.complaints).toEqual([]);
  });

  it('shows accounts without the administrator role only their own settings', async () => {
    await sendRequest('POST', '/accounts', {
      ...bob,
      grants: [{ service: 'push', resource: 'lawn', permission: 'read' }],
    });
    await using visit = await pages.visit('/', { signedIn: false });
    const { page } = visit;
    await page.getByRole('heading', { name: accessMessages.signIn() }).waitFor();
    await signIn(page.context(), pages.url, bob);
    await page.goto(pages.url);
    await page.getByRole('button', { name: frameMessages.signedInAsName({ name: 'bob' }) }).click();
    await page.getByRole('menuitem', { name: notificationsMessages.notificationsAndQuietHours() }).click();
    await page.getByRole('button', { name: notificationsMessages.addARule() }).click();
    const dialog = page.getByRole('dialog', { name: notificationsMessages.newRule() });
    await dialog.getByLabel(notificationsMessages.topics()).fill('lawn');
    await dialog.getByRole('radio', { name: notificationsMessages.silentMode() }).check();
    await dialog.getByRole('button', { name: notificationsMessages.save() }).click();
    await page.getByRole('list', { name: notificationsMessages.rules() }).getByRole('link', { name: 'lawn' }).waitFor();
    expect(await page.getByRole('heading', { name: notificationsMessages.popupsOnThisMachine() }).count()).toBe(0);
    expect(await page.getByRole('link', { name: 'doors' }).count()).toBe(0);
    expect(await page.getByRole('list', { name: notificationsMessages.destinationsOfDelivery() }).count()).toBe(0);
  });

  it('lets popups follow the rules of an account or their own hours, and names the account', async () => {
    await sendRequest('PATCH', '/settings/host', { quietHours: ['22:00-07:00'] });
    await sendRequest('PUT', '/push/quiet', { rules: [{ topics: 'doors', mode: 'always' }], popups: false });
    await using visit = await pages.visit('/settings/notifications');
    const { page } = visit;
    const choice = page.getByRole('radiogroup', { name: notificationsMessages.popupQuietHours() });
    const hours = page.getByRole('group', { name: settingsFormMessages.quietHoursRow({ row: '1' }) });
    await hours.waitFor();
    expect(await choice.getByRole('radio', { name: notificationsMessages.ownHours() }).isChecked()).toBe(true);
    await page.getByRole('button', { name: notificationsMessages.addARule() }).click();
    const dialog = page.getByRole('dialog', { name: notificationsMessages.newRule() });
    await dialog.getByLabel(notificationsMessages.topics()).fill('lawn');
    await dialog.getByRole('button', { name: notificationsMessages.save() }).click();
    await page.getByText(notificationsMessages.savedForTopics({ topics: 'lawn' })).waitFor();
    // A rule does not disable the existing hours.
    await hours.waitFor();
    await choice.getByRole('radio', { name: notificationsMessages.asMyRules() }).check();
    await hours.waitFor({ state: 'detached' });
    const carla = { name: 'carla', password: 'long enough', role: 'admin' };
    await sendRequest('POST', '/accounts', carla);
    await fetch(`${pages.url}/api/push/quiet`, {
      method: 'PUT',
      headers: {
        'Content-Type': 'application/json',
        Authorization: `Basic ${Buffer.from(`${carla.name}:${carla.password}`).toString('base64')}`,
      },
      body: JSON.stringify({ rules: [], popups: true }),
    });
    await page.reload();
    await expect
      .poll(() =>
        choice.getByRole('radio', { name: notificationsMessages.asTheRulesOf({ account: 'carla' }) }).isChecked(),
      )
      .toBe(true);
    expect(visit.complaints).toEqual([]);
  });

  it('enables popups together with the service that shows them', async () => {
    await sendRequest('PATCH', '/settings/popups', { enabled: false });
    await using visit = await pages.visit('/settings/notifications');
    const { page } = visit;
    const popups = page.getByRole('switch', { name: notificationsMessages.popups(), exact: true });
    await expect.poll(() => popups.getAttribute('aria-checked')).toBe('false');
    expect(await page.getByRole('switch', { name: notificationsMessages.popupSound() }).count()).toBe(0);
    const homeportNavigation = page.getByRole('navigation', { name: frameMessages.homeportItself() });
    expect(await homeportNavigation.getByRole('link', { name: notificationsMessages.popups() }).count()).toBe(0);
    await popups.click();
    await page.getByRole('switch', { name: notificationsMessages.popupSound() }).waitFor();
    const { sections } = await api<SettingsView>(pages.url, '/api/settings');
    const section = sections.find(({ id }) => id === 'popups');
    expect(section?.fields.map(({ name, value }) => [name, value])).toEqual([['enabled', true]]);
    expect(visit.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using visit = await pages.visit('/settings/notifications', screen);
    await visit.page.getByRole('list', { name: notificationsMessages.destinationsOfDelivery() }).waitFor();
    await visit.page.getByRole('list', { name: notificationsMessages.rules() }).waitFor();
    await expectFits(visit, 'notifications', screen);
  });
});
