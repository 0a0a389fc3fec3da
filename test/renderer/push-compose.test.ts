import * as pushProblems from '#messages/push-problems';
import * as partsMessages from '#messages/parts';
import * as pushMessages from '#messages/push';
import * as pushComposeMessages from '#messages/push-compose';
import * as stateMessages from '#messages/state';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../services/control/index.ts';
import { inbox } from '../../services/inbox/index.ts';
import { push } from '../../services/push/index.ts';
import { api } from '../support/api.ts';
import { noBrowser } from '../support/browser.ts';
import { adminAuthorization } from '../support/host.ts';
import { anyCount, containing } from '../support/message-patterns.ts';
import { expectFits } from './fits.ts';
import { screens } from './screens.ts';
import { besidesRefusals, openPages, type Pages } from './visit.ts';

const run = promisify(execFile);

describe.skipIf(noBrowser)('the composer of a message', () => {
  let pages: Pages;
  beforeAll(async () => {
    const environment = { NTFY_ATTACHMENT_FILE_SIZE_LIMIT: '1M' };
    pages = await openPages({ services: [push, inbox, control], environment });
    for (const topic of ['nas-error-backup', 'router-info-maintenance']) {
      const request = { method: 'POST', body: 'x', headers: { Authorization: adminAuthorization } };
      expect((await fetch(`${pages.host.url('push')}/${topic}`, request)).status).toBe(200);
    }
  });
  afterAll(() => pages[Symbol.asyncDispose]());

  const newest = async (topic: string): Promise<any> => {
    const headers = { Authorization: adminAuthorization };
    const text = await (await fetch(`${pages.host.url('push')}/${topic}/json?poll=1`, { headers })).text();
    return JSON.parse(text.trim().split('\n').at(-1) ?? '{}');
  };
  const openDialog = async (page: Page): Promise<Locator> => {
    const dialog = page.getByRole('dialog', { name: pushMessages.publishAMessage() });
    await dialog.getByText(partsMessages.sizeMebibytes({ value: 'Up to 1' })).waitFor();
    return dialog;
  };
  const publish = (dialog: Locator): Promise<void> =>
    dialog.getByRole('button', { name: pushMessages.publish() }).click();

  it.each(screens)('fits its width on $on', async (screen) => {
    await using visit = await pages.visit('/push?compose=1', screen);
    const dialog = await openDialog(visit.page);
    expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  });

  it('builds a topic from its parts, whose severity suggests the priority', async () => {
    await using visit = await pages.visit('/push?compose=1');
    const dialog = await openDialog(visit.page);
    await dialog.getByText(pushComposeMessages.buildItFromServiceSeverity()).click();
    await dialog.getByLabel(pushMessages.service()).fill('Web Shop');
    await dialog.getByLabel(pushMessages.category()).fill('security');
    await dialog.getByRole('radio', { name: 'critical' }).check();
    expect(await dialog.getByLabel(pushMessages.topic()).inputValue()).toBe('Web-Shop-critical-security');
    expect(await dialog.getByLabel(pushMessages.priority()).inputValue()).toBe('5');
    await dialog.getByText(pushComposeMessages.asTheSeveritySays()).waitFor();
    await dialog.getByLabel(pushMessages.topic()).fill('nas-warning-backup');
    expect(await dialog.getByLabel(pushMessages.service()).inputValue()).toBe('nas');
    expect(await dialog.getByLabel(pushMessages.priority()).inputValue()).toBe('3');
    await dialog.getByLabel(pushMessages.priority()).selectOption(pushMessages.low());
    await dialog.getByLabel(pushMessages.topic()).fill('nas-critical-backup');
    expect(await dialog.getByLabel(pushMessages.priority()).inputValue()).toBe('2');
    await dialog.getByLabel(pushComposeMessages.message()).fill('Checked');
    await publish(dialog);
    await visit.page.getByRole('heading', { level: 1, name: 'nas-critical-backup' }).waitFor();
    expect(await newest('nas-critical-backup')).toMatchObject({ message: 'Checked', priority: 2 });
    expect(visit.complaints).toEqual([]);
  });

  it('suggests emoji tags, common times and buttons', async () => {
    await using visit = await pages.visit('/push/topics/router-info-maintenance?compose=1');
    const dialog = await openDialog(visit.page);
    await dialog.getByLabel(pushComposeMessages.message()).fill('Restart at night');
    await dialog.getByRole('textbox', { name: pushComposeMessages.tags() }).pressSequentially('router, war');
    await dialog.getByRole('button', { name: '⚠️ warning' }).click();
    expect(await dialog.getByRole('textbox', { name: pushComposeMessages.tags() }).inputValue()).toBe(
      'router, warning, ',
    );
    await dialog.getByRole('button', { name: pushComposeMessages.addAButton() }).click();
    await dialog.getByLabel(pushComposeMessages.says()).fill('Not now');
    await dialog
      .getByLabel(pushComposeMessages.does(), { exact: true })
      .selectOption(pushComposeMessages.sendsARequest());
    await dialog.getByLabel(pushComposeMessages.address(), { exact: true }).fill('https://router.example/later');
    await dialog.getByLabel(pushComposeMessages.body()).fill('{"wait":1}');
    await dialog.getByLabel(pushComposeMessages.clearsTheNotification()).check();
    await dialog.getByRole('button', { name: pushComposeMessages.in30Min() }).click();
    expect(await dialog.getByLabel(pushComposeMessages.sendLater()).inputValue()).toBe('30m');
    await dialog.getByRole('button', { name: pushComposeMessages.in30Min() }).click();
    await publish(dialog);
    await dialog.waitFor({ state: 'detached' });
    expect(await newest('router-info-maintenance')).toMatchObject({
      tags: ['router', 'warning'],
      priority: 2,
      actions: [{ action: 'http', label: 'Not now', method: 'POST', body: '{"wait":1}', clear: true }],
    });
    expect(visit.complaints).toEqual([]);
  });

  it('uploads a file that was selected, pasted or dragged, and rejects a large one early', async () => {
    await using visit = await pages.visit('/push/topics/files?compose=1');
    const { page } = visit;
    const dialog = await openDialog(page);
    const input = dialog.locator('input[type=file]');
    await input.setInputFiles({ name: 'large.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(2e6) });
    await dialog
      .getByText(pushComposeMessages.nameHasSizeFilesMay({ name: 'large.bin', size: '2 MB', maxBytes: '1 MiB' }))
      .waitFor();
    await input.setInputFiles({ name: 'log.txt', mimeType: 'text/plain', buffer: Buffer.from('one line') });
    await dialog.getByText('log.txt', { exact: true }).waitFor();
    await dialog.getByLabel(pushComposeMessages.sendLater()).fill('some day');
    await publish(dialog);
    await dialog.getByText(containing(pushProblems.delayInvalid({ hours: anyCount }))).waitFor();
    await dialog.getByLabel(pushComposeMessages.sendLater()).fill('');
    await dialog.getByLabel(pushComposeMessages.shownAs()).fill('night.txt');
    await publish(dialog);
    await dialog.waitFor({ state: 'detached' });
    const message = await newest('files');
    expect(message).toMatchObject({
      message: 'You received a file: night.txt',
      attachment: { name: 'night.txt', size: 8 },
    });
    expect(await (await fetch(message.attachment.url)).text()).toBe('one line');
    for (const [how, target] of [
      ['paste', 'textarea'],
      ['drop', 'form'],
    ] as const) {
      await page.goto(`${pages.url}/push/topics/files?compose=1`);
      await openDialog(page);
      await dialog.locator(target).evaluate((element, kind) => {
        const transfer = new DataTransfer();
        transfer.items.add(new File(['x'], `${kind}ed.txt`));
        const eventOptions = { bubbles: true, cancelable: true };
        element.dispatchEvent(
          kind === 'paste'
            ? new ClipboardEvent('paste', { ...eventOptions, clipboardData: transfer })
            : new DragEvent('drop', { ...eventOptions, dataTransfer: transfer }),
        );
      }, how);
      await publish(dialog);
      await dialog.waitFor({ state: 'detached' });
      expect(await newest('files')).toMatchObject({ attachment: { name: `${how}ed.txt`, size: 1 } });
    }
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('shows the progress of an upload, and cancels it', async () => {
    await using visit = await pages.visit('/push/topics/files?compose=1');
    const { page } = visit;
    const dialog = await openDialog(page);
    const { promise: blocked, resolve: go } = Promise.withResolvers<undefined>();
    await page.route('**/api/push/topics/files/files*', async (route) => {
      await blocked;
      await route.abort();
    });
    await dialog
      .locator('input[type=file]')
      .setInputFiles({ name: 'a.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(500_000) });
    await publish(dialog);
    await dialog.getByRole('progressbar', { name: pushComposeMessages.sendingTheFile() }).waitFor();
    await dialog.getByRole('button', { name: pushComposeMessages.stop() }).click();
    await dialog.getByText(stateMessages.uploadStopped()).waitFor();
    await dialog.getByText('a.bin', { exact: true }).waitFor();
    go(undefined);
    expect(besidesRefusals(visit.complaints)).toEqual([]);
  });

  it('builds the curl command that publishes the same message', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'compose-'));
    using _folder = { [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) };
    writeFileSync(join(folder, 'log.txt'), 'one line');
    const { text: TOKEN } = await api<{ text: string }>(pages.url, '/api/accounts/ada/tokens', {
      method: 'POST',
      body: JSON.stringify({ label: 'curl', expiresAt: null }),
    });
    await using visit = await pages.visit('/settings/log');
    const { page } = visit;
    for (const withFile of [false, true]) {
      await page.goto(`${pages.url}/push/topics/same?compose=1`);
      const dialog = await openDialog(page);
      await dialog.getByRole('textbox', { name: pushComposeMessages.message() }).fill(`It's "two"\nlines, größer`);
      await dialog.getByLabel(pushComposeMessages.title()).fill('Grüße & $HOME `x`');
      await dialog.getByLabel(pushMessages.priority()).selectOption(pushMessages.high());
      await dialog.getByRole('textbox', { name: pushComposeMessages.tags() }).fill('a, b');
      await dialog.getByLabel(pushComposeMessages.link()).fill('https://nas.example/?a=1&b=2');
      await dialog.getByRole('button', { name: pushComposeMessages.addAButton() }).click();
      await dialog.getByLabel(pushComposeMessages.says()).fill("Don't, please; now");
      await dialog.getByLabel(pushComposeMessages.address(), { exact: true }).fill('https://door.example/');
      if (withFile) {
        await dialog
          .locator('input[type=file]')
          .setInputFiles({ name: 'log.txt', mimeType: 'text/plain', buffer: Buffer.from('one line') });
      }
      await dialog.getByText(pushComposeMessages.theSameWithCurl()).click();
      const command = (await dialog.locator('details code').textContent()) ?? '';
      await publish(dialog);
      await dialog.waitFor({ state: 'detached' });
      const fromCommand = await newest('same');
      await run('sh', ['-c', command], { cwd: folder, env: { ...process.env, TOKEN } });
      const fromPage = await newest('same');
      expect(fromPage.id).not.toBe(fromCommand.id);
      const essence = ({ title, message, priority, tags, click, actions, attachment }: any) => ({
        title,
        message,
        priority,
        tags,
        click,
        actions: actions.map(({ action, label, url }: any) => ({ action, label, url })),
        file: attachment && { name: attachment.name, size: attachment.size, type: attachment.type },
      });
      expect(essence(fromPage)).toEqual(essence(fromCommand));
    }
    expect(visit.complaints).toEqual([]);
  });

  it.each(screens)('fits on $on', async (screen) => {
    await using visit = await pages.visit('/push/topics/nas-error-backup?compose=1', screen);
    const dialog = await openDialog(visit.page);
    await dialog.getByText(pushComposeMessages.buildItFromServiceSeverity()).click();
    await dialog.getByRole('textbox', { name: pushComposeMessages.message() }).fill('**light**');
    await dialog.getByLabel(pushComposeMessages.markdown()).check();
    await dialog.getByRole('textbox', { name: pushComposeMessages.tags() }).fill('wa');
    await dialog.locator('input[type=file]').setInputFiles({
      name: 'a-file-with-a-name-that-is-rather-long-2026-11-21.txt',
      mimeType: '',
      buffer: Buffer.from('x'),
    });
    await dialog.getByRole('button', { name: pushComposeMessages.addAButton() }).click();
    await dialog.getByText(pushComposeMessages.theSameWithCurl()).click();
    await expectFits(visit, 'push-compose-all', screen);
    await dialog.getByRole('button', { name: pushComposeMessages.addAButton() }).scrollIntoViewIfNeeded();
    await expectFits(visit, 'push-compose-end', screen);
  });
});
