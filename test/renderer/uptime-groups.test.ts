import * as partsMessages from '#messages/parts';
import * as uptimeTexts from '#messages/uptime-texts';
import * as m from '#messages/uptime';
import * as pages from '#messages/uptime-pages';
import * as proxies from '#messages/uptime-proxies';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MonitorRow, Monitor } from '../../services/contracts/uptime/views.ts';
import type { StatusPage } from '../../services/contracts/uptime/status-pages.ts';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { uptime } from '../../services/uptime/index.ts';
import { buildWeights } from '../../renderer/src/pages/uptime/monitors/order/monitor-order.ts';
import { buildMonitorTree, findTargetGroups } from '../../renderer/src/pages/uptime/monitors/monitor-tree.ts';
import { api } from '../support/api.ts';
import { getBrowser, noBrowser, openPage, signIn } from '../support/browser.ts';
import { containing } from '../support/message-patterns.ts';
import { openUptime, type UptimeRig } from '../services/uptime/rig.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

const state: MonitorRow['state'] = { status: 1, ping: null, since: null, uptime24h: null };
const row = (id: number, type = 'http', parent?: number): MonitorRow => ({
  ...{ id, type, state, name: `m${String(id)}`, target: '', active: true },
  ...(parent === undefined ? {} : { parent }),
});

describe('tree of monitors', () => {
  const byId = (a: MonitorRow, b: MonitorRow): number => a.id - b.id;
  const format = (rows: readonly MonitorRow[]): readonly string[] =>
    buildMonitorTree(rows, byId).map(({ monitor, depth }) => `${'-'.repeat(depth)}${String(monitor.id)}`);

  it('lists groups before their members', () => {
    const rows = [row(1), row(2, 'http', 5), row(3, 'http', 4), row(4, 'group', 5), row(5, 'group')];
    expect(format(rows)).toEqual(['1', '5', '-2', '-4', '--3']);
  });

  it('lists every monitor once, also of missing groups and of groups that contain each other', () => {
    expect(format([row(1, 'http', 9), row(2, 'group', 3), row(3, 'group', 2)])).toEqual(['1', '2', '3']);
  });

  it('sorts the members of a group by their manual order', () => {
    const weighted = (id: number, weight: number): MonitorRow => ({ ...row(id, 'http', 1), weight });
    const rows = [row(1, 'group'), weighted(2, 10), weighted(3, 30), row(4, 'http', 1)];
    expect(format(rows)).toEqual(['1', '-4', '-3', '-2']);
    expect(buildWeights(rows.slice(1), 2, { id: 3, isAfter: false })).toEqual([
      { id: 2, weight: 30 },
      { id: 3, weight: 20 },
      { id: 4, weight: 10 },
    ]);
    expect(buildWeights([weighted(3, 30), weighted(2, 20), weighted(4, 10)], 4, { id: 3, isAfter: true })).toEqual([
      { id: 4, weight: 20 },
      { id: 2, weight: 10 },
    ]);
  });

  it('offers no group within the moved one', () => {
    const rows = [row(1, 'group'), row(2, 'group', 1), row(3, 'group'), row(4)];
    expect(findTargetGroups(rows, [1]).map(({ id }) => id)).toEqual([3]);
    expect(findTargetGroups(rows, [4]).map(({ id }) => id)).toEqual([1, 2, 3]);
  });
});

describe.skipIf(noBrowser)('Uptime list', () => {
  let browser: Browser;
  let rig: UptimeRig;
  const manual = { type: 'manual', manual_status: 1, interval: 86_400 };
  beforeAll(async () => {
    browser = await getBrowser();
    const built = process.env['HOMEPORT_TEST_PAGES'];
    rig = await openUptime({ services: [uptime, inbox, control], ...(built ? { pages: built } : {}) });
    await rig.add({ ...manual, type: 'group', name: 'Home' });
    await rig.add({ ...manual, type: 'group', name: 'Office' });
    await rig.add({ ...manual, name: 'Printer' });
    await rig.add({ ...manual, name: 'Router' });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(browser, options);
    await signIn(browserPage.page.context(), rig.host.url('control'));
    await browserPage.page.goto(`${rig.host.url('control')}${path}`);
    return browserPage;
  };
  const findMonitor = async (name: string): Promise<Monitor | undefined> => {
    const { items } = await rig.call<{ items: Monitor[] }>('GET', '/api/monitors');
    return items.find((monitor) => monitor.name === name);
  };
  const getParentName = async (name: string): Promise<string | undefined> => {
    const { items } = await rig.call<{ items: Monitor[] }>('GET', '/api/monitors');
    const parent = items.find((monitor) => monitor.name === name)?.parent;
    return items.find(({ id }) => id === parent)?.name;
  };

  it('moves a monitor into a group and out of it by drag', async () => {
    const { page, complaints } = await visit('/uptime');
    const list = page.getByRole('group', { name: m.monitors(), exact: true });
    const getRow = (name: string) => list.getByRole('button', { name: new RegExp(name) });
    const drag = async (name: string, target: () => ReturnType<typeof getRow>): Promise<void> => {
      await getRow(name).hover();
      await page.mouse.down();
      await page.mouse.move(0, 0, { steps: 2 });
      await target().hover();
      await page.mouse.up();
    };
    await getRow('Printer').waitFor();
    await drag('Printer', () => getRow('Home'));
    await page.getByText(m.movedIn({ name: 'Printer', group: 'Home' })).waitFor();
    expect(await getParentName('Printer')).toBe('Home');
    // A drag opens no monitor. A member is listed below its group, which is up from then on and follows the empty one.
    expect(new URL(page.url()).pathname).toBe('/uptime');
    const names = async () => (await list.getByRole('button').allInnerTexts()).map((text) => text.split('\n')[0]);
    await expect.poll(names).toEqual(['Office', 'Home', 'Printer', 'Router']);
    await drag('Printer', () => page.getByText(m.dropOutOfGroup()));
    await page.getByText(m.movedOut({ name: 'Printer' })).waitFor();
    expect(await getParentName('Printer')).toBeUndefined();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('moves several monitors by keyboard', async () => {
    const { page, complaints } = await visit('/uptime');
    await page.getByRole('button', { name: containing(m.selectSeveral()) }).press('Enter');
    for (const name of ['Printer', 'Router'])
      await page.getByRole('button', { name: new RegExp(`${name}`) }).press('Enter');
    await page.getByRole('button', { name: m.moveToGroup() }).press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(m.group()).selectOption({ label: 'Office' });
    await dialog.getByRole('button', { name: m.moveMonitors(), exact: true }).press('Enter');
    await dialog.waitFor({ state: 'detached' });
    expect([await getParentName('Printer'), await getParentName('Router')]).toEqual(['Office', 'Office']);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('changes the order in a group by drag and in the menu', async () => {
    const { page, complaints } = await visit('/uptime');
    const group = await findMonitor('Home');
    const ids: number[] = [];
    for (const name of ['Alpha', 'Beta', 'Gamma'])
      ids.push((await rig.add({ ...manual, name, parent: group?.id ?? 0 })).id);
    const list = page.getByRole('group', { name: m.monitors(), exact: true });
    const getRow = (name: string) => list.getByRole('button', { name: new RegExp(name) });
    const names = async () =>
      (await list.getByRole('button').allInnerTexts())
        .map((text) => text.split('\n')[0] ?? '')
        .filter((name) => ['Alpha', 'Beta', 'Gamma'].includes(name));
    await expect.poll(names).toEqual(['Alpha', 'Beta', 'Gamma']);
    await getRow('Gamma').hover();
    await page.mouse.down();
    await page.mouse.move(0, 0, { steps: 2 });
    await getRow('Alpha').hover({ position: { x: 200, y: 6 } });
    await page.mouse.up();
    await expect.poll(names).toEqual(['Gamma', 'Alpha', 'Beta']);
    await page.goto(`${rig.host.url('control')}/uptime/monitors/${String(ids[0])}`);
    await page.getByRole('button', { name: m.moreForName({ name: 'Alpha' }) }).click();
    await page.getByRole('menuitem', { name: partsMessages.moveDown() }).click();
    await expect.poll(async () => (await findMonitor('Alpha'))?.weight).toBe(10);
    await page.goto(`${rig.host.url('control')}/uptime`);
    await expect.poll(names).toEqual(['Gamma', 'Beta', 'Alpha']);
    for (const id of ids) await rig.call('DELETE', `/api/monitors/${String(id)}`);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('shows no uptime of a group whose members were just checked', async () => {
    const { id: group } = await rig.add({ ...manual, type: 'group', name: 'Garage' });
    const { id } = await rig.add({ ...manual, name: 'Door', parent: group });
    const findRow = async (): Promise<MonitorRow | undefined> => {
      const { rows } = await api<{ rows: MonitorRow[] }>(rig.host.url('control'), '/api/uptime/overview');
      return rows.find((each) => each.id === group);
    };
    await expect.poll(async () => (await findRow())?.state.status).toBe(1);
    expect((await findRow())?.state.uptime24h).toBeNull();
    for (const each of [id, group]) await rig.call('DELETE', `/api/monitors/${String(each)}`);
  });

  it('adds a proxy in the form of a monitor, which then uses it', async () => {
    const { page, complaints } = await visit('/uptime?add=1');
    const form = page.getByRole('dialog', { name: m.addAMonitor() });
    await form.getByLabel(m.name(), { exact: true }).fill('Behind a proxy');
    await form.getByLabel(m.address()).fill('http://127.0.0.1:9/');
    await form.getByText(m.request(), { exact: true }).click();
    await form.getByRole('button', { name: proxies.addProxy() }).click();
    const dialog = page.getByRole('dialog', { name: proxies.addProxy() });
    await dialog.getByLabel(proxies.name(), { exact: true }).fill('Office proxy');
    await dialog.getByLabel(proxies.host()).fill('http://proxy');
    await dialog.getByLabel(proxies.port()).fill('1080');
    await dialog.getByRole('button', { name: proxies.save() }).click();
    await dialog.locator('[aria-invalid="true"]').waitFor();
    await dialog.getByLabel(proxies.host()).fill('127.0.0.1');
    await dialog.getByLabel(proxies.protocol()).selectOption('socks5');
    await dialog.getByLabel(proxies.userName()).fill('ada');
    await dialog.getByLabel(proxies.password(), { exact: true }).fill('proxy secret');
    await dialog.getByRole('button', { name: proxies.save() }).click();
    await dialog.waitFor({ state: 'detached' });
    await form.getByRole('button', { name: m.save() }).click();
    await page.getByRole('heading', { name: 'Behind a proxy' }).waitFor();
    const { items } = await rig.call<{ items: { id: number }[] }>('GET', '/api/proxies');
    expect(items).toMatchObject([{ name: 'Office proxy', protocol: 'socks5', auth: true, hasPassword: true }]);
    expect(await findMonitor('Behind a proxy')).toMatchObject({ proxyId: items[0]?.id });
    await page.goto(`${rig.host.url('control')}/uptime/settings`);
    await page.getByRole('button', { name: proxies.editNamed({ name: 'Office proxy' }) }).click();
    const editor = page.getByRole('dialog', { name: proxies.editProxy() });
    await editor.getByLabel(proxies.isDefault()).check();
    await editor.getByRole('button', { name: proxies.save() }).click();
    await page.getByText(proxies.proxySaved()).waitFor();
    const { items: saved } = await rig.call<{ items: object[] }>('GET', '/api/proxies');
    expect(saved).toMatchObject([{ default: true, hasPassword: true }]);
    // The refused host of the proxy.
    expect(complaints.filter((line) => !line.includes('status of 422'))).toEqual([]);
    await page.context().close();
  });

  it('protects a status page with a password, which a visitor enters', async () => {
    await rig.call('POST', '/api/status-pages', { slug: 'family', title: 'Family' });
    const { page, complaints } = await visit('/uptime/pages/family');
    await page.getByText(pages.audience(), { exact: true }).click();
    await page.getByLabel(pages.access()).selectOption({ label: pages.accessPassword() });
    await page.getByLabel(pages.pagePassword(), { exact: true }).fill('blue harbor');
    await page.getByRole('button', { name: m.save() }).click();
    await page.getByText(pages.pageSaved()).waitFor();
    expect(await rig.call<StatusPage>('GET', '/api/status-pages/family')).toMatchObject({
      access: 'password',
      hasPassword: true,
    });
    expect(complaints).toEqual([]);
    await page.context().close();
    const visitor = await openPage(browser);
    await visitor.page.goto(`${rig.url}/status/family`);
    const password = visitor.page.getByLabel(uptimeTexts.lockedPassword());
    await password.fill('wrong password');
    await password.press('Enter');
    await visitor.page.getByRole('alert').waitFor();
    await password.fill('blue harbor');
    await password.press('Enter');
    await visitor.page.getByRole('heading', { name: 'Family' }).waitFor();
    await visitor.page.context().close();
  });

  describe.each(screens)('on $on', (screen) => {
    const { width, height, touch } = screen;
    it.each([
      ['groups', '/uptime'],
      ['proxies', '/uptime/settings'],
      ['page-access', '/uptime/pages/family'],
    ] as const)('fits: %s', async (name, path) => {
      const browserPage = await visit(path, { width, height, touch });
      await browserPage.page.getByRole('heading', { level: 1 }).waitFor();
      await browserPage.page.locator('h2, li, [role="status"]').first().waitFor();
      await expectFits(browserPage, `uptime-${name}`, screen);
      await browserPage.page.context().close();
    });

    it('fits: password of a public page', async () => {
      const visitor = await openPage(browser, { width, height, touch });
      await visitor.page.goto(`${rig.url}/status/family`);
      await visitor.page.getByRole('heading', { level: 1 }).waitFor();
      // The browser logs the status of the form, which is not an error of the page.
      const complaints = visitor.complaints.filter((line) => !line.includes('403'));
      await expectFits({ ...visitor, complaints }, 'uptime-locked', screen);
      await visitor.page.context().close();
    });
  });
});
