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
    const dialog = page.getByRole('dialog', { name: 'Publish a message' });
    await dialog.getByText('Up to 1 MiB').waitFor();
    return dialog;
  };
  const publish = (dialog: Locator): Promise<void> => dialog.getByRole('button', { name: 'Publish' }).click();

  it.each(screens)('fits its width on $on', async (screen) => {
    await using visit = await pages.visit('/push?compose=1', screen);
    const dialog = await openDialog(visit.page);
    expect(await dialog.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBe(0);
  });

  it('builds a topic from its parts, whose severity suggests the priority', async () => {
    await using visit = await pages.visit('/push?compose=1');
    const dialog = await openDialog(visit.page);
    await dialog.getByText('Build it from service').click();
    await dialog.getByLabel('Service').fill('Web Shop');
    await dialog.getByLabel('Category').fill('security');
    await dialog.getByRole('radio', { name: 'critical' }).check();
    expect(await dialog.getByLabel('Topic').inputValue()).toBe('Web-Shop-critical-security');
    expect(await dialog.getByLabel('Priority').inputValue()).toBe('5');
    await dialog.getByText('As the severity says').waitFor();
    await dialog.getByLabel('Topic').fill('nas-warning-backup');
    expect(await dialog.getByLabel('Service').inputValue()).toBe('nas');
    expect(await dialog.getByLabel('Priority').inputValue()).toBe('3');
    await dialog.getByLabel('Priority').selectOption('Low');
    await dialog.getByLabel('Topic').fill('nas-critical-backup');
    expect(await dialog.getByLabel('Priority').inputValue()).toBe('2');
    await dialog.getByLabel('Message').fill('Checked');
    await publish(dialog);
    await visit.page.getByRole('heading', { level: 1, name: 'nas-critical-backup' }).waitFor();
    expect(await newest('nas-critical-backup')).toMatchObject({ message: 'Checked', priority: 2 });
    expect(visit.complaints).toEqual([]);
  });

  it('suggests emoji tags, common times and buttons', async () => {
    await using visit = await pages.visit('/push/topics/router-info-maintenance?compose=1');
    const dialog = await openDialog(visit.page);
    await dialog.getByLabel('Message').fill('Restart at night');
    await dialog.getByRole('textbox', { name: 'Tags' }).pressSequentially('router, war');
    await dialog.getByRole('button', { name: '⚠️ warning' }).click();
    expect(await dialog.getByRole('textbox', { name: 'Tags' }).inputValue()).toBe('router, warning, ');
    await dialog.getByRole('button', { name: 'Add a button' }).click();
    await dialog.getByLabel('Says').fill('Not now');
    await dialog.getByLabel('Does').selectOption('Sends a request');
    await dialog.getByLabel('Address', { exact: true }).fill('https://router.example/later');
    await dialog.getByLabel('Body').fill('{"wait":1}');
    await dialog.getByLabel('Clears the notification').check();
    await dialog.getByRole('button', { name: 'In 30 min' }).click();
    expect(await dialog.getByLabel('Send later').inputValue()).toBe('30m');
    await dialog.getByRole('button', { name: 'In 30 min' }).click();
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
    await dialog.getByText('large.bin has 2 MB. Files may have 1 MiB.').waitFor();
    await input.setInputFiles({ name: 'log.txt', mimeType: 'text/plain', buffer: Buffer.from('one line') });
    await dialog.getByText('log.txt', { exact: true }).waitFor();
    await dialog.getByLabel('Send later').fill('some day');
    await publish(dialog);
    await dialog.getByText('Write 30m, 2 hours').waitFor();
    await dialog.getByLabel('Send later').fill('');
    await dialog.getByLabel('Shown as').fill('night.txt');
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
    await dialog.getByRole('progressbar', { name: 'Sending the file' }).waitFor();
    await dialog.getByRole('button', { name: 'Stop' }).click();
    await dialog.getByText('The upload was stopped.').waitFor();
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
      await dialog.getByRole('textbox', { name: 'Message' }).fill(`It's "two"\nlines, größer`);
      await dialog.getByLabel('Title').fill('Grüße & $HOME `x`');
      await dialog.getByLabel('Priority').selectOption('High');
      await dialog.getByRole('textbox', { name: 'Tags' }).fill('a, b');
      await dialog.getByLabel('Link').fill('https://nas.example/?a=1&b=2');
      await dialog.getByRole('button', { name: 'Add a button' }).click();
      await dialog.getByLabel('Says').fill("Don't, please; now");
      await dialog.getByLabel('Address', { exact: true }).fill('https://door.example/');
      if (withFile) {
        await dialog
          .locator('input[type=file]')
          .setInputFiles({ name: 'log.txt', mimeType: 'text/plain', buffer: Buffer.from('one line') });
      }
      await dialog.getByText('The same with curl').click();
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
    await dialog.getByText('Build it from service').click();
    await dialog.getByRole('textbox', { name: 'Message' }).fill('**light**');
    await dialog.getByLabel('Markdown').check();
    await dialog.getByRole('textbox', { name: 'Tags' }).fill('wa');
    await dialog.locator('input[type=file]').setInputFiles({
      name: 'a-file-with-a-name-that-is-rather-long-2026-11-21.txt',
      mimeType: '',
      buffer: Buffer.from('x'),
    });
    await dialog.getByRole('button', { name: 'Add a button' }).click();
    await dialog.getByText('The same with curl').click();
    await expectFits(visit, 'push-compose-all', screen);
    await dialog.getByRole('button', { name: 'Add a button' }).scrollIntoViewIfNeeded();
    await expectFits(visit, 'push-compose-end', screen);
  });
});
