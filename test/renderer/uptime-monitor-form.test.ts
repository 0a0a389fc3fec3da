import * as uptimeMessages from '#messages/uptime';
import * as problems from '#messages/uptime-problems';
import type { IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { uptime } from '../../services/uptime/index.ts';
import { noBrowser, openPage, signIn, getBrowser } from '../support/browser.ts';
import { openTarget, openUptime, type UptimeRig } from '../services/uptime/rig.ts';
import { anyText, matching, startingWith } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';

describe.skipIf(noBrowser)('monitor form of Uptime', () => {
  let browser: Browser;
  let rig: UptimeRig;
  beforeAll(async () => {
    browser = await getBrowser();
    const built = process.env['HOMEPORT_TEST_PAGES'];
    rig = await openUptime({ services: [uptime, inbox, control], ...(built ? { pages: built } : {}) });
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  const visit = async (path: string, options = {}) => {
    const browserPage = await openPage(browser, options);
    await signIn(browserPage.page.context(), rig.host.url('control'));
    await browserPage.page.goto(`${rig.host.url('control')}${path}`);
    return browserPage;
  };

  it('sends the method, headers, body and token of the form, and tests them before they are saved', async () => {
    const received: { request: IncomingMessage; body: string }[] = [];
    await using target = await openTarget((request, response) => {
      void text(request).then((body) => {
        received.push({ request, body });
        response.writeHead(request.headers.authorization === 'Bearer open sesame' ? 200 : 401).end();
      });
    });
    await rig.add({ type: 'manual', name: 'Router', manual_status: 1, interval: 86_400 });
    const { page, complaints } = await visit('/uptime/monitors?add=1');
    const form = page.getByRole('dialog');
    await form.getByLabel(uptimeMessages.name(), { exact: true }).fill('Order API');
    await form.getByLabel(uptimeMessages.address()).fill(`${target.url}/orders`);
    await form.getByText(uptimeMessages.request(), { exact: true }).click();
    await form.getByLabel(uptimeMessages.method()).selectOption('POST');
    await form.getByLabel(uptimeMessages.requestBody(), { exact: true }).fill('{"ping": true}');
    await form.getByLabel(uptimeMessages.requestHeaders()).fill('X-Team: lamp\nnonsense');
    await form.getByLabel(uptimeMessages.authentication()).selectOption({ label: uptimeMessages.authBearer() });
    const token = form.getByLabel(uptimeMessages.bearerToken(), { exact: true });
    await token.fill('wrong');
    const test = form.getByRole('button', { name: uptimeMessages.testMonitor(), exact: true });
    await test.click();
    await form.getByText(uptimeMessages.headerInvalid({ line: '2' })).waitFor();
    await form.getByLabel(uptimeMessages.requestHeaders()).fill('X-Team: lamp');
    await test.click();
    await form.getByText(startingWith(uptimeMessages.testDown({ cause: `${anyText}401` }))).waitFor();
    await token.fill('open sesame');
    await test.click();
    await form
      .getByText(
        matching(uptimeMessages.testUp({ ping: anyText, answer: uptimeMessages.itAnswered({ answer: '200 OK' }) })),
      )
      .waitFor();
    const { items: before } = await rig.call<{ items: { name: string }[] }>('GET', '/api/monitors?q=Order');
    expect(before).toEqual([]);
    await form.getByLabel(uptimeMessages.newTag()).fill('Shop');
    await form.getByRole('button', { name: uptimeMessages.addTag() }).click();
    await form.getByRole('button', { name: 'Shop', pressed: true }).waitFor();
    await form.getByText(uptimeMessages.more(), { exact: true }).click();
    await form.getByLabel(uptimeMessages.description()).fill('Takes the orders of the shop.');
    await form.getByLabel('Router').check();
    await form.getByRole('button', { name: uptimeMessages.save() }).click();
    await page.getByRole('heading', { name: 'Order API' }).waitFor();
    await page.getByText('Takes the orders of the shop.').waitFor();
    await page.getByText('Shop', { exact: true }).waitFor();
    await page.getByRole('list', { name: uptimeMessages.dependsOn() }).getByText('Router').waitFor();
    await page
      .getByText(uptimeMessages.itAnswered({ answer: '200 OK' }))
      .first()
      .waitFor();
    const last = received.at(-1);
    expect([last?.request.method, last?.request.headers['x-team'], last?.body]).toEqual([
      'POST',
      'lamp',
      '{"ping": true}',
    ]);
    // The form shows the stored request again and keeps the token.
    await page.getByRole('button', { name: uptimeMessages.edit(), exact: true }).click();
    await form.getByText(uptimeMessages.request(), { exact: true }).click();
    expect(await form.getByLabel(uptimeMessages.requestHeaders()).inputValue()).toBe('X-Team: lamp');
    await test.click();
    await form.getByText(startingWith(uptimeMessages.testUp({ ping: anyText, answer: anyText }))).waitFor();
    expect(complaints.filter((line) => !line.includes('400'))).toEqual([]);
    await page.context().close();
  });

  it('duplicates a monitor as a paused copy', async () => {
    const { id } = await rig.add({ type: 'manual', name: 'Boiler', manual_status: 1, interval: 86_400 });
    const { page, complaints } = await visit(`/uptime/monitors/${String(id)}`);
    await page.getByRole('button', { name: uptimeMessages.moreForName({ name: 'Boiler' }) }).click();
    await page.getByRole('menuitem', { name: uptimeMessages.duplicate() }).click();
    await page.getByRole('heading', { name: problems.copyName({ name: 'Boiler' }) }).waitFor();
    await page.getByRole('button', { name: uptimeMessages.resume() }).waitFor();
    await page.getByText(uptimeMessages.duplicated()).waitFor();
    expect(complaints).toEqual([]);
    await page.context().close();
  });

  it.each(screens)('fits on $on', async (screen) => {
    const { width, height, touch } = screen;
    await rig.call('POST', '/api/tags', { name: 'Living room', color: '#b45309' });
    const browserPage = await visit('/uptime/monitors?add=1', { width, height, touch });
    const form = browserPage.page.getByRole('dialog');
    await form.getByText(uptimeMessages.request(), { exact: true }).click();
    await form.getByLabel(uptimeMessages.method()).selectOption('POST');
    await form.getByText(uptimeMessages.more(), { exact: true }).click();
    await expectFits(browserPage, 'uptime-monitor-form', screen);
    await browserPage.page.context().close();
  });
});
