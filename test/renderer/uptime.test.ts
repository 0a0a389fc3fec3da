import * as problems from '#messages/uptime-problems';
import * as causes from '#messages/uptime-causes';
import * as states from '#messages/uptime-states';
import * as partsMessages from '#messages/parts';
import * as uptimeMessages from '#messages/uptime';
import * as uptimePagesMessages from '#messages/uptime-pages';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { defineDateFormat, formatList } from '../../messages/format.ts';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { uptime } from '../../services/uptime/index.ts';
import { noBrowser, openPage, openProfile, signIn, getBrowser } from '../support/browser.ts';
import { openTarget, openUptime, type Target, type UptimeRig } from '../services/uptime/rig.ts';
import { anyCount, anyText, containing, matching, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

const formatWeekday = defineDateFormat({ weekday: 'long' });

/**
 * Returns two weekdays in the order of the form, and the one that is next. A window on the current day can be in
 * progress, which has another text.
 */
function getFutureWeekdays(): { readonly names: readonly string[]; readonly next: string } {
  const days = [2, 4].map((count) => new Date(Date.now() + count * 86_400_000));
  const [next = 0] = days;
  const names = days.toSorted((one, other) => one.getDay() - other.getDay()).map(formatWeekday);
  return { names, next: defineDateFormat({ weekday: 'short' })(next) };
}

describe.skipIf(noBrowser)('Uptime', () => {
  let browser: Browser;
  let rig: UptimeRig;
  let target: Target;
  beforeAll(async () => {
    browser = await getBrowser();
    target = await openTarget();
    const built = process.env['HOMEPORT_TEST_PAGES'];
    rig = await openUptime({ services: [uptime, inbox, control], ...(built ? { pages: built } : {}) });
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(browser, options);
    await signIn(browserPage.page.context(), rig.host.url('control'));
    await browserPage.page.goto(`${rig.host.url('control')}${path}`);
    return browserPage;
  };

  it('adds a monitor, shows its outage immediately and adds a note to it', async () => {
    const { page, complaints } = await visit('/uptime');
    await page.getByText(uptimeMessages.emptyTitle()).waitFor();
    await page.getByRole('button', { name: uptimeMessages.addAMonitor() }).click();
    const form = page.getByRole('dialog');
    await form.getByRole('button', { name: uptimeMessages.save() }).click();
    await form.getByText(problems.nameMissing()).waitFor();
    await form.getByLabel(uptimeMessages.name(), { exact: true }).fill('The web');
    await form.getByLabel(uptimeMessages.address()).fill(target.url);
    await form.getByLabel(uptimeMessages.checkedEvery()).fill('2');
    await form.getByRole('button', { name: uptimeMessages.save() }).click();
    await page.getByRole('heading', { name: 'The web' }).waitFor();
    await page
      .getByText(uptimeMessages.itAnswered({ answer: '200 OK' }))
      .first()
      .waitFor();
    target.handler = (_request, response) => void response.writeHead(500).end();
    // The explanation is visible; a click shows the original message.
    await page
      .locator('summary')
      .filter({ hasText: causes.serverError({ code: '500' }) })
      .click();
    await page.getByText('Request failed with status code 500').waitFor();
    const history = page.getByRole('list', { name: uptimeMessages.stateChanges() });
    await history
      .getByText(
        startingWith(`${uptimeMessages.statusFor({ length: anyText })} · ${causes.serverError({ code: anyText })}`),
      )
      .waitFor();
    await history
      .getByText(
        matching(`${uptimeMessages.lasted({ length: anyText })} · ${uptimeMessages.itAnswered({ answer: '200 OK' })}`),
      )
      .waitFor();
    // The chart marks the downtime behind the response times.
    await page
      .getByRole('figure')
      .getByRole('listitem')
      .getByText(uptimeMessages.downSpans(), { exact: true })
      .waitFor();
    // The keyboard selects each of the recent checks, which is described as text.
    const strip = page.getByRole('slider', { name: uptimeMessages.lastChecks() });
    await strip.focus();
    await expect.poll(() => strip.getAttribute('aria-valuetext')).toMatch(/^Down · \d\d:\d\d$/);
    await page.keyboard.press('Home');
    await page.getByText(/^Up · (under\s)?\d+\sms · \d\d:\d\d$/).waitFor();
    await page.getByRole('link', { name: uptimeMessages.monitors(), exact: true }).click();
    await page.getByRole('radio', { name: 'Down 1' }).waitFor();
    await page
      .getByText(
        startingWith(`${uptimeMessages.downFor({ length: anyText })} · ${causes.serverError({ code: '500' })}`),
      )
      .waitFor();
    await page.getByRole('tab', { name: uptimeMessages.outages() }).click();
    await page.getByText(causes.serverError({ code: '500' })).waitFor();
    const monitorLink = page.getByRole('link', { name: 'The web', exact: true });
    expect(await monitorLink.getAttribute('href')).toMatch(/^\/uptime\/monitors\/\d+$/);
    await page.getByRole('button', { name: startingWith(uptimeMessages.acknowledge({ names: anyText })) }).click();
    await page.getByText(uptimeMessages.acknowledgedBy({ name: 'ada' })).waitFor();
    await page.getByRole('button', { name: uptimePagesMessages.writeANote() }).click();
    await page.getByLabel(uptimeMessages.note()).fill('The disk is full.');
    await page.getByRole('button', { name: uptimeMessages.writeItDown() }).click();
    await page.getByText('The disk is full.').waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('plans maintenance, marks invalid fields and ends it', async () => {
    const { id } = await rig.add({ type: 'manual', name: 'Night job', manual_status: 1, interval: 86_400 });
    const { page, complaints } = await visit('/uptime/maintenance');
    await page.getByRole('button', { name: uptimeMessages.planMaintenance() }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel(uptimeMessages.title()).fill('New disks');
    await form
      .getByLabel(uptimeMessages.when(), { exact: true })
      .selectOption({ label: uptimeMessages.onDaysOfWeek() });
    await form.getByRole('button', { name: uptimeMessages.save() }).click();
    await form.getByText(problems.maintenanceDaysMissing()).waitFor();
    const { names, next } = getFutureWeekdays();
    for (const name of names) await form.getByLabel(name).check();
    await form.getByLabel(uptimeMessages.from(), { exact: true }).fill('03:00');
    await form.getByLabel(uptimeMessages.until(), { exact: true }).fill('04:00');
    await form.getByRole('button', { name: uptimeMessages.save() }).click();
    const times = uptimeMessages.startToEnd({ start: '03:00', end: '04:00' });
    const schedule = uptimeMessages.everyWeekday({ days: formatList(names), times });
    await page.getByText(`${schedule} · ${uptimeMessages.nextTime({ time: next })}`).waitFor();
    await page.getByRole('button', { name: uptimeMessages.planMaintenance() }).click();
    await form.getByLabel(uptimeMessages.title()).fill('New disks at last');
    await form.getByLabel(uptimeMessages.when(), { exact: true }).selectOption({ label: uptimeMessages.untilEnded() });
    await form.getByLabel('Night job').check();
    await form.getByRole('button', { name: uptimeMessages.save() }).click();
    await page.getByText(uptimeMessages.runsNow()).waitFor();
    await rig.until(id, 3);
    await page.getByRole('button', { name: /^End / }).click();
    await page.getByText(uptimeMessages.monitorPaused()).waitFor();
    await rig.until(id, 1);
    await page.getByRole('button', { name: uptimePagesMessages.editTitle({ title: 'New disks at last' }) }).waitFor();
    expect(complaints.filter((line) => !line.includes('400'))).toEqual([]);
    await page.context().close();
  });

  it('creates a status page with groups and a note that visitors see without a sign-in', async () => {
    await rig.add({ type: 'manual', name: 'Shop', manual_status: 1, interval: 86_400 });
    const { page, complaints } = await visit('/uptime/pages');
    await page.getByRole('button', { name: uptimeMessages.makeAStatusPage() }).click();
    await page.getByLabel(uptimeMessages.title()).fill('Harbour');
    await page.getByRole('textbox', { name: uptimeMessages.address() }).fill('harbour');
    await page.getByLabel(uptimePagesMessages.nameOfTheGroup()).fill('For everybody');
    await page.getByLabel('Night job').check();
    await page.getByLabel('Shop').check();
    await page.getByRole('button', { name: partsMessages.moveItem({ name: 'Shop' }), exact: true }).press('ArrowUp');
    // The preview shows unsaved changes.
    const preview = page.locator('section.card').filter({ hasText: uptimePagesMessages.preview() });
    await preview.getByRole('heading', { name: 'Harbour' }).waitFor();
    await preview.getByRole('heading', { name: uptimeMessages.statusFor({ length: 'everybody' }) }).waitFor();
    await preview.getByText('Night job').waitFor();
    // The label and color match the public page: a partial outage is not red.
    await page.getByRole('checkbox', { name: 'The web' }).check();
    const summary = preview.getByText(states.pagePartial()).locator('..');
    expect(await summary.getAttribute('class')).toContain('partial');
    await page.getByRole('checkbox', { name: 'The web' }).uncheck();
    await preview.getByText(states.pageUp()).waitFor();
    await page.getByText(uptimePagesMessages.appearance(), { exact: true }).click();
    const logo =
      '<svg xmlns="http://www.w3.org/2000/svg" width="80" height="40"><circle cx="20" cy="20" r="20"/></svg>';
    await page
      .locator('input[type=file]')
      .setInputFiles({ name: 'logo.svg', mimeType: 'image/svg+xml', buffer: Buffer.from(logo) });
    await page.getByRole('img', { name: uptimePagesMessages.logo() }).waitFor();
    await page.getByLabel(uptimePagesMessages.ownAccent()).check();
    await page.getByLabel(uptimePagesMessages.accentColor(), { exact: true }).fill('#b45309');
    await page.getByRole('button', { name: uptimeMessages.save() }).click();
    await page.getByRole('button', { name: uptimePagesMessages.writeANote() }).click();
    const form = page.getByRole('dialog');
    await form.getByLabel(uptimeMessages.title()).fill('New disks tonight');
    await form.getByLabel(uptimePagesMessages.text()).fill('From **22:00** on.');
    await form.getByRole('button', { name: uptimePagesMessages.publishNote() }).click();
    await preview.getByRole('heading', { name: 'New disks tonight' }).waitFor();
    await page
      .getByRole('list', { name: uptimePagesMessages.notesOnThePage() })
      .getByText(matching(uptimePagesMessages.noteSince({ time: anyText })))
      .waitFor();
    // The editor has its own button; new pages are added from the list.
    expect(await page.getByRole('button', { name: uptimeMessages.makeAStatusPage() }).count()).toBe(0);
    const { publicGroupList } = (await (await fetch(`${rig.url}/api/status-page/harbour`)).json()) as {
      publicGroupList: { name: string; monitorList: { name: string }[] }[];
    };
    expect(publicGroupList.map(({ name, monitorList }) => [name, ...monitorList.map((one) => one.name)])).toEqual([
      ['For everybody', 'Shop', 'Night job'],
    ]);
    const visitor = await openProfile(browser);
    const seen = await visitor.newPage();
    await seen.goto(`${rig.url}/status/harbour`);
    await seen.getByRole('heading', { name: uptimeMessages.statusFor({ length: 'everybody' }) }).waitFor();
    await seen.getByText('New disks tonight').waitFor();
    await expect
      .poll(() => seen.locator('img.logo').evaluate(({ naturalWidth }: HTMLImageElement) => naturalWidth))
      .toBe(80);
    expect(await seen.evaluate(() => getComputedStyle(document.body).borderTopColor)).toBe('rgb(180, 83, 9)');
    await seen.getByText(matching(uptimePagesMessages.noteSince({ time: `${anyText}M ${anyText}` }))).waitFor();
    await visitor.close();
    await page.getByRole('link', { name: uptimeMessages.statusPages(), exact: true }).click();
    await page.getByText(uptimePagesMessages.monitorCount({ count: 2 }), { exact: true }).waitFor();
    // The list shows the monitors as the page does.
    const listed = page.getByRole('list', {
      name: startingWith(uptimePagesMessages.monitorsOfPage({ title: anyText })),
    });
    await expect.poll(() => listed.getByRole('listitem').locator('bdi').first().textContent()).toBe('Shop');
    await page.getByText(`${rig.url}/status/harbour`, { exact: true }).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('shows the address of a job and a public badge', async () => {
    const { page, complaints } = await visit('/uptime/connect');
    await page.getByText(uptimeMessages.addAMonitor(), { exact: true }).last().waitFor();
    const { id } = await rig.add({ type: 'push', name: 'Nightly backup', interval: 86_400 });
    const command = (await page.getByText(/^curl ".*\/api\/push\//).textContent()) ?? '';
    const address = /"(.*)"/.exec(command)?.[1] ?? '';
    expect(await (await fetch(address)).json()).toEqual({ ok: true });
    await rig.until(id, 1);
    // The badge is of the status page from the former test.
    const badge = (await page.getByText(/^http.*\/api\/badge\/\d+\/status$/).textContent()) ?? '';
    expect(await (await fetch(badge)).text()).toContain('<svg');
    await page
      .getByLabel(uptimeMessages.badgeShows())
      .selectOption({ label: uptimeMessages.badgeUptime({ length: uptimeMessages.spanDays({ count: 30 }) }) });
    await page.getByLabel(uptimeMessages.badgeStyle()).selectOption('for-the-badge');
    await page.getByLabel(uptimeMessages.badgeLabel()).fill('My shop');
    const opened = page.waitForEvent('popup');
    await page.getByRole('link', { name: uptimeMessages.openBadge() }).click();
    const built = (await opened).url();
    expect(built).toMatch(/\/api\/badge\/\d+\/uptime\/720\?style=for-the-badge&label=My\+shop$/);
    expect(await (await fetch(built)).text()).toMatch(/my shop/i);
    await page.getByText(`(${built})`).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('suggests monitors for services and lists the most urgent monitor first', async () => {
    const { page, complaints } = await visit('/uptime');
    await page
      .getByRole('status')
      .getByText(uptimeMessages.nameIsDown({ name: 'The web' }))
      .waitFor();
    // Monitors with problems come first, with the reason.
    const first = page.getByRole('group', { name: uptimeMessages.monitors(), exact: true }).getByRole('button').first();
    await expect
      .poll(() => first.innerText())
      .toMatch(/^The web\s+Down for \d+ (s|min) · Server error \(status 500\)\.\s+Down$/);
    await page.getByText(startingWith(uptimeMessages.chooseFromCount({ count: anyCount }))).click();
    await page.getByRole('list', { name: uptimeMessages.whatCouldBeWatched() }).getByRole('button').first().click();
    await page.getByText(startingWith(uptimeMessages.nameIsWatched({ name: anyText }))).waitFor();
    const { items } = await rig.call<{ items: { id: number; url: string | null }[] }>('GET', '/api/monitors');
    const ownMonitor = items.find(({ url }) => url?.startsWith(rig.host.url('control')) === true);
    expect(await rig.until(ownMonitor?.id ?? 0, 1)).toMatchObject({ status: 1 });
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('suggests monitors for the containers of an engine', async () => {
    const container = { Id: 'a'.repeat(64), Names: ['/photos'], Image: 'photos:2', State: 'running' };
    await using engine = await openTarget(({ url = '' }, response) => {
      if (url.startsWith('/events')) return void response.writeHead(200).flushHeaders();
      const answers: Readonly<Record<string, unknown>> = {
        '/containers/json?all=true': [
          container,
          { ...container, Id: 'b'.repeat(64), Names: ['/cache'] },
          { ...container, Id: 'c'.repeat(64), Names: ['/books'] },
        ],
        '/containers/photos/json': { ...container, Name: '/photos', State: { Running: true, Status: 'running' } },
      };
      const answer = answers[url];
      response.writeHead(answer === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(answer ?? { message: 'No such container' }));
    });
    const where = { name: 'attic', dockerType: 'tcp', dockerDaemon: `tcp://127.0.0.1:${String(engine.port)}` };
    const { id: docker_host } = await rig.call<{ id: number }>('POST', '/api/docker-hosts', where);
    const { page, complaints } = await visit('/uptime');
    await page.getByText(startingWith(uptimeMessages.chooseFromCount({ count: anyCount }))).click();
    await page.getByText('photos:2 · running · attic').first().waitFor();
    await page.getByRole('button', { name: matching(uptimeMessages.watchNamed({ name: 'photos' })) }).click();
    await page.getByText(uptimeMessages.nameIsWatched({ name: 'photos' })).waitFor();
    await page
      .getByRole('button', { name: matching(uptimeMessages.watchNamed({ name: 'photos' })) })
      .waitFor({ state: 'detached' });
    await page.getByRole('button', { name: matching(uptimeMessages.watchNamed({ name: 'cache' })) }).waitFor();
    // Adds the remaining suggestions together.
    await page.getByRole('button', { name: uptimeMessages.watchAll() }).click();
    await page.getByText(/^\d monitors added\.$/).waitFor();
    await page.getByRole('list', { name: uptimeMessages.whatCouldBeWatched() }).waitFor({ state: 'detached' });
    const { items } = await rig.call<{ items: { id: number; name: string; docker_host?: number }[] }>(
      'GET',
      '/api/monitors',
    );
    const monitor = items.find(({ name }) => name === 'photos');
    expect(monitor).toMatchObject({ docker_host });
    expect(await rig.until(monitor?.id ?? 0, 1)).toMatchObject({ status: 1 });
    for (const { id } of items.filter(({ name }) => ['photos', 'cache', 'books'].includes(name))) {
      await rig.call('DELETE', `/api/monitors/${String(id)}`);
    }
    await rig.call('DELETE', `/api/docker-hosts/${String(docker_host)}`);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('pauses many monitors and reports on a month', async () => {
    const { page, complaints } = await visit('/uptime/monitors?q=Shop');
    await expect.poll(() => new URL(page.url()).pathname).toBe('/uptime');
    await page.getByRole('button', { name: containing(uptimeMessages.selectSeveral()) }).click();
    await page.getByRole('button', { name: uptimeMessages.selectAllShown() }).click();
    await page.getByRole('button', { name: uptimeMessages.pause(), exact: true }).click();
    await page.getByText(uptimeMessages.countChanged({ count: 1 })).waitFor();
    const { items } = await rig.call<{ items: { name: string; active: boolean }[] }>('GET', '/api/monitors?q=Shop');
    expect(items).toMatchObject([{ name: 'Shop', active: false }]);
    await page.getByRole('button', { name: uptimeMessages.resume(), exact: true }).click();
    await page.getByRole('tab', { name: uptimeMessages.report() }).click();
    await page.getByRole('cell', { name: 'Shop' }).waitFor();
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: uptimeMessages.saveCsv() }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('uptime-30-days.csv');
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('pauses and removes a monitor on its page', async () => {
    const { id } = await rig.add({ type: 'manual', name: 'Old printer', manual_status: 1, interval: 86_400 });
    const { page, complaints } = await visit(`/uptime/monitors/${String(id)}`);
    const more = page.getByRole('button', { name: uptimeMessages.moreForName({ name: 'Old printer' }) });
    await more.click();
    await page.getByRole('menuitem', { name: uptimeMessages.pause() }).click();
    await page.getByRole('button', { name: uptimeMessages.resume() }).waitFor();
    await more.click();
    await page.getByRole('menuitem', { name: uptimeMessages.remove() }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: uptimeMessages.remove(), exact: true }).click();
    await dialog.getByRole('button', { name: uptimeMessages.removeQuestion() }).click();
    await page.getByRole('tab', { name: uptimeMessages.monitors(), selected: true }).waitFor();
    await page.getByText('Old printer', { exact: true }).waitFor({ state: 'detached' });
    const { items } = await rig.call<{ items: { id: number }[] }>('GET', '/api/monitors');
    expect(items.filter((one) => one.id === id)).toEqual([]);
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it('renders only the visible ones of 2,000 monitors', async () => {
    const items = Array.from({ length: 2000 }, (_, index) => ({
      type: 'manual',
      name: `job ${String(index)}`,
      interval: 86_400,
    }));
    const ids: (number | undefined)[] = [];
    for (let offset = 0; offset < items.length; offset += 1000) {
      const part = { items: items.slice(offset, offset + 1000) };
      const monitor = await rig.call<{ items: { id?: number }[] }>('POST', '/api/monitors/bulk', part);
      ids.push(...monitor.items.map(({ id }) => id));
    }
    const { page } = await visit('/uptime/monitors');
    await page.getByText('job 0', { exact: true }).waitFor();
    expect(await page.locator('li').count()).toBeLessThan(100);
    await page.getByRole('searchbox', { name: uptimeMessages.searchMonitors() }).fill('job 1999');
    await page.getByText('job 1999', { exact: true }).click();
    await page.getByRole('heading', { name: 'job 1999' }).waitFor();
    await page.context().close();
    // The accessibility check of so many rows takes long, and every page has them: remove them.
    expect(await rig.call('POST', '/api/monitors/bulk-edit', { ids, remove: true })).toMatchObject({ done: 2000 });
  });

  describe.each(screens)('on $on', (screen) => {
    const { width, height, touch } = screen;
    beforeAll(async () => {
      // Creates the data of the former tests in case they were skipped.
      const { items } = await rig.call<{ items: readonly unknown[] }>('GET', '/api/monitors');
      if (items.length > 0) return;
      await rig.add({ type: 'http', name: 'The web', url: target.url, interval: 60 });
      await rig.call('POST', '/api/status-pages', { slug: 'harbour', title: 'Harbour' });
    });
    it.each([
      ['monitors', '/uptime'],
      ['monitor', '/uptime/monitors/1'],
      ['outages', '/uptime/outages'],
      ['maintenance', '/uptime/maintenance'],
      ['page', '/uptime/pages/harbour'],
      ['report', '/uptime/report'],
      ['connect', '/uptime/connect'],
    ] as const)('fits: %s', async (name, path) => {
      const browserPage = await visit(path, { width, height, touch });
      await browserPage.page.getByRole('heading', { level: 1 }).waitFor();
      await browserPage.page.locator('h2, li, [role="status"]').first().waitFor();
      await expectFits(browserPage, `uptime-${name}`, screen);
      await browserPage.page.context().close();
    });

    it('fits on the public page', async () => {
      const visitor = await openPage(browser, { width, height, touch });
      await visitor.page.goto(`${rig.url}/status/harbour`);
      await expectFits(visitor, 'uptime-public', screen);
      await visitor.page.context().close();
    });
  });
});
